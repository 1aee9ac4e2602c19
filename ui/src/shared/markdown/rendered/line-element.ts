/** Finds the rendered element of a line of Markdown. */

import { embedLocation } from '../image-reference';

const images = '[data-image], [data-undrawn]';
const parts = 'li, p, tr, h1, h2, h3, h4, h5, h6, pre, blockquote';

/**
 * The smallest drawn part that shows a line, 0-based, of the text whose `blocks` were drawn one
 * after the other in `root`; the whole block where no part of it can be told.
 */
export function lineElement(
  root: HTMLElement,
  blocks: readonly string[],
  line: number,
): HTMLElement | null {
  let first = 0;
  for (const [index, block] of blocks.entries()) {
    const after = first + block.split('\n').length - 1;
    if (line < after || index === blocks.length - 1) {
      const drawn = root.querySelectorAll<HTMLElement>(':scope > .block').item(index);
      return drawn && blockElement(drawn, block.split('\n'), line - first);
    }
    first = after;
  }
  return null;
}

/** The smallest part of a drawn block that shows one of its lines. */
export function blockElement(
  drawn: HTMLElement,
  lines: readonly string[],
  line: number,
): HTMLElement {
  const wanted = letters(lines[line] ?? '');
  const holding = [...drawn.querySelectorAll<HTMLElement>(parts)].filter((part) =>
    letters(textOf(part)).includes(wanted),
  );
  const smallest = holding.filter(
    (part) => !holding.some((in_) => in_ !== part && part.contains(in_)),
  );
  // The same text may stand on several lines: they are drawn in the same order.
  const before = lines.slice(0, line).filter((other) => letters(other).includes(wanted)).length;
  return wanted === '' ? drawn : (smallest[before] ?? smallest.at(-1) ?? drawn);
}

/** The text of a part, without the labels of images, which may be drawn or not. */
function textOf(part: HTMLElement): string {
  if (!part.querySelector(images)) return part.textContent;
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  let content = '';
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (!parentElement?.closest(images)) content += textContent ?? '';
  }
  return content;
}

/** The text of a line that is left when it is drawn: no signs, no task's box, no image, no target of a link. */
function letters(content: string): string {
  return content
    .replace(/^\s*(?:[-*+]|\d+[.)])\s+\[.\]\s/, '')
    .replace(/^\s*\d+[.)]\s/, '')
    .replace(/!\[\[([^\]|]*)[^\]]*\]\]/g, (link, to) =>
      embedLocation(to) === undefined ? link : '',
    )
    .replace(/!\[[^\][]*\]\([^)]*\)/g, '')
    .replace(/\[\[[^\]|]*\|([^\]]*)\]\]/g, '$1')
    .replace(/\]\([^)]*\)/g, '')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
