/** Markdown as notes write it: GitHub's, `[[links]]`, and nothing that loads anything. */
import { Marked, type Tokens } from 'marked';

import { escapeHtml } from './escape';
import { linkTarget } from './link';

interface NoteLink extends Tokens.Generic {
  readonly type: 'noteLink';
  readonly target: string;
  readonly label: string;
}

export const marked = new Marked({ gfm: true, breaks: false, async: false });

marked.use({
  extensions: [
    {
      name: 'noteLink',
      level: 'inline',
      start: (source) => source.indexOf('[['),
      tokenizer(source): NoteLink | undefined {
        const match = /^!?\[\[([^\][|\n]+)(?:\|([^\]\n]+))?\]\]/.exec(source);
        const target = match?.[1]?.trim();
        if (!match || !target) return undefined;
        const label = match[2]?.trim() ?? target.replace('#', ' › ');
        return { type: 'noteLink', raw: match[0], target, label };
      },
      renderer(token) {
        return isNoteLink(token) ? anchor('note', token.target, escapeHtml(token.label)) : '';
      },
    },
  ],
  tokenizer: {
    // A footnote is words: taken for the address of a link it would not be shown.
    def: (source) => (/^ {0,3}\[\^/.test(source) ? undefined : false),
  },
  renderer: {
    link({ href, tokens }) {
      const words = this.parser.parseInline(tokens);
      const target = linkTarget(href);
      return target ? anchor(target.kind, target.to, words) : words;
    },
    // A long line scrolls inside its box, so the box can be reached with the keyboard.
    code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>`,
    // Nothing is loaded from anywhere: a picture is what its author called it.
    image: ({ text }) => escapeHtml(text),
    checkbox: ({ checked }) => `<span data-task="${checked ? 'done' : 'open'}"></span>`,
  },
});

function isNoteLink(token: Tokens.Generic): token is NoteLink {
  return token.type === 'noteLink';
}

/** No `href`: the webview itself must have nowhere to go. */
function anchor(kind: 'note' | 'web', to: string, words: string): string {
  return `<a role="link" tabindex="0" data-${kind}="${escapeHtml(to)}">${words}</a>`;
}
