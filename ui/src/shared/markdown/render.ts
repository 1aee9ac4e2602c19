/** Renders Markdown of a model or a note to HTML without active content. */
import DOMPurify from 'dompurify';
import remend from 'remend';

import { invisibleRanges } from '../text/invisible';
import { escapeHtml } from './escape';
import { marked } from './extensions';
import { isTooDeep } from './nesting-depth';
import { markInvisible } from './rendered/invisible';

const tags = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code'],
  ...['ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ...['a', 'em', 'strong', 'del', 'kbd', 'sub', 'sup', 'mark', 'span'],
];
const attributes = [
  ...['role', 'tabindex', 'data-note', 'data-web', 'data-task', 'start', 'align'],
  ...['data-image', 'data-size', 'data-undrawn'],
];

/** No block that a person reads is longer; what is, is shown as it is written. */
const longest = 16_000;
/** Some engines break a line in time that grows with the square of its length. */
const longestPiece = 2_000;
/** Closing what is open takes time that grows with the square of the length. */
const longestOpen = 4_000;

/** A block that is complete. */
export function renderClosed(markdown: string): string {
  if (markdown.length > longest || isTooDeep(markdown)) return plain(markdown);
  try {
    return safe(marked.parse(markdown, { async: false }));
  } catch {
    // Nesting beyond any sense exhausts the stack of the parser.
    return plain(markdown);
  }
}

/** A block that is still being written: what it opened and did not close yet is closed. */
export function renderOpen(markdown: string): string {
  if (markdown.length > longestOpen) return renderClosed(markdown);
  return renderClosed(remend(markdown, { linkMode: 'text-only', katex: false }));
}

function plain(markdown: string): string {
  const shown = pieces(markdown).map((piece) => `<p>${escapeHtml(piece)}</p>`);
  return safe(shown.join(''));
}

/** The text in pieces of at most `longestPiece` UTF-16 units. */
function pieces(text: string): string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length; at += found.at(-1)?.length ?? text.length) {
    found.push(firstPiece(text.slice(at, at + longestPiece + 1)));
  }
  return found;
}

/** Cut between words where there are any. */
function firstPiece(text: string): string {
  if (text.length <= longestPiece) return text;
  const piece = text.slice(0, longestPiece);
  const space = Math.max(piece.lastIndexOf('\n'), piece.lastIndexOf(' '));
  // Half a character is none.
  return space > 0 ? piece.slice(0, space + 1) : piece.replace(/[\uD800-\uDBFF]$/, '');
}

const strict = {
  ALLOWED_TAGS: tags,
  ALLOWED_ATTR: attributes,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  SANITIZE_NAMED_PROPS: true,
};

function safe(html: string): string {
  if (invisibleRanges(html).length === 0) return DOMPurify.sanitize(html, strict);
  const holder = document.createElement('div');
  holder.append(DOMPurify.sanitize(html, { ...strict, RETURN_DOM_FRAGMENT: true }));
  markInvisible(holder);
  return holder.innerHTML;
}
