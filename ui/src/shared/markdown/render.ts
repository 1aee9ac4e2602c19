/** Markdown that a model or a note wrote, as HTML that can do nothing. */
import DOMPurify from 'dompurify';
import remend from 'remend';

import { marked } from './dialect';

const tags = [
  ...['p', 'br', 'hr', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'pre', 'code'],
  ...['ul', 'ol', 'li', 'table', 'thead', 'tbody', 'tr', 'th', 'td'],
  ...['a', 'em', 'strong', 'del', 'kbd', 'sub', 'sup', 'mark', 'span'],
];
const attributes = ['role', 'tabindex', 'data-note', 'data-web', 'data-task', 'start', 'align'];

/** A block that is complete. */
export function renderClosed(markdown: string): string {
  return safe(marked.parse(markdown, { async: false }));
}

/** A block that is still being written: what it opened and did not close yet is closed. */
export function renderOpen(markdown: string): string {
  return renderClosed(remend(markdown, { linkMode: 'text-only', katex: false }));
}

function safe(html: string): string {
  return DOMPurify.sanitize(html, {
    ALLOWED_TAGS: tags,
    ALLOWED_ATTR: attributes,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    SANITIZE_NAMED_PROPS: true,
  });
}
