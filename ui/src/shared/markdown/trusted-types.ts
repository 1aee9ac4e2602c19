/** Renders Markdown to `TrustedHTML` where the engine has trusted types; no other text becomes HTML there. */
import { renderClosed, renderOpen } from './render';

/** HTML in such an engine; it prints as its text. */
interface Trusted {
  toString(): string;
}

declare global {
  interface Window {
    /** Not every engine has them. */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { createHTML: typeof draw },
      ): { createHTML(...source: Parameters<typeof draw>): Trusted };
    };
  }
}

/** It is given Markdown, never HTML: nothing that was not rendered and cleaned passes through it. */
const policy = window.trustedTypes?.createPolicy('vaultmate-markdown', { createHTML: draw });

/** The HTML of a block; `open` while it is still being written. */
export function htmlOf(markdown: string, open: boolean): string | Trusted {
  return policy ? policy.createHTML(markdown, open) : draw(markdown, open);
}

function draw(markdown: string, open: boolean): string {
  return open ? renderOpen(markdown) : renderClosed(markdown);
}
