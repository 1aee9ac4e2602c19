/** Configures the Markdown parser: GitHub's flavor, `[[links]]`, and nothing that loads anything. */
import { Marked, type Token, type Tokens } from 'marked';

import { escapeHtml } from './escape';
import { linkTarget } from './link';
import { embedLocation, fileName, imageLocation, sized } from './image-reference';

interface NoteLink extends Tokens.Generic {
  readonly type: 'noteLink';
  readonly target: string;
  readonly label: string | undefined;
  /** Whether it shows its target in place. */
  readonly embeds: boolean;
}

export const marked = new Marked({ gfm: true, breaks: false, async: false });

marked.use({
  extensions: [
    {
      name: 'noteLink',
      level: 'inline',
      start: (source) => source.indexOf('[['),
      tokenizer(source): NoteLink | undefined {
        const match = /^(!?)\[\[([^\][|\n]+)(?:\|([^\]\n]+))?\]\]/.exec(source);
        const target = match?.[2]?.trim();
        if (!match || !target) return undefined;
        const [raw, sign, , label] = match;
        return { type: 'noteLink', raw, target, label: label?.trim(), embeds: sign === '!' };
      },
      renderer(token) {
        return isNoteLink(token) ? noteLink(token) : '';
      },
    },
  ],
  tokenizer: {
    // A footnote is text: taken for the URL of a link it would not be shown.
    def: (source) => (/^ {0,3}\[\^/.test(source) ? undefined : false),
  },
  renderer: {
    link({ href, tokens }) {
      // A link cannot stand in another one: of the two it is the outer one that leads somewhere.
      const inner = tokens.map((token) => (isRemote(token) ? asText(token) : token));
      const content = this.parser.parseInline(inner);
      const target = linkTarget(href);
      return target ? anchor(target.kind, target.to, content) : content;
    },
    // A long line scrolls inside its box, so the box can be reached with the keyboard.
    code: ({ text }) => `<pre tabindex="0"><code>${escapeHtml(text)}\n</code></pre>`,
    image: ({ href, text }) => imageHtml(imageLocation(href), href, text),
    checkbox: ({ checked }) => `<span data-task="${checked ? 'done' : 'open'}"></span>`,
  },
});

function isNoteLink(token: Tokens.Generic): token is NoteLink {
  return token.type === 'noteLink';
}

function noteLink({ target, label, embeds }: NoteLink): string {
  const place = embeds ? embedLocation(target) : undefined;
  if (place !== undefined) return imageHtml(place, target, label ?? '');
  return anchor('note', target, escapeHtml(label ?? target.replace('#', ' › ')));
}

/** Only names it: it is put there by `images.ts`, and nothing is loaded from anywhere else. */
function imageHtml(
  place: ReturnType<typeof imageLocation>,
  written: string,
  label: string,
): string {
  const { alt, size } = sized(label);
  if (place?.kind === 'web') return anchor('web', place.at, escapeHtml(alt || place.at), true);
  const called = escapeHtml(alt || fileName(place?.at ?? written));
  if (!place) return `<span data-undrawn="">${called}</span>`;
  const large = size ? ` data-size="${size}"` : '';
  return `<span data-image="${escapeHtml(place.at)}"${large}>${called}</span>`;
}

function isRemote(token: Token): token is Tokens.Image {
  return token.type === 'image' && imageLocation(token.href)?.kind === 'web';
}

function asText({ raw, text }: Tokens.Image): Tokens.Text {
  return { type: 'text', raw, text: escapeHtml(sized(text).alt), escaped: true };
}

/** No `href`: the webview itself must not navigate. */
function anchor(kind: 'note' | 'web', to: string, content: string, isImage = false): string {
  const undrawn = isImage ? ' data-undrawn=""' : '';
  return `<a role="link" tabindex="0" data-${kind}="${escapeHtml(to)}"${undrawn}>${content}</a>`;
}
