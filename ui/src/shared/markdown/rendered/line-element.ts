/** Finds the rendered element of a line of Markdown. */

import { embedLocation } from '../image-reference';

const images = '[data-image], [data-undrawn]';
const parts = 'li, p, tr, h1, h2, h3, h4, h5, h6, pre, blockquote';
/** The number of letters by which a line is told from others. */
const longest = 2_000;

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
      return drawn && blockParts(drawn, block.split('\n'))(line - first);
    }
    first = after;
  }
  return null;
}

/** Finds the smallest part of a drawn block that shows one of its lines. */
export function blockParts(
  drawn: HTMLElement,
  lines: readonly string[],
): (line: number) => HTMLElement {
  const shown = [...drawn.querySelectorAll<HTMLElement>(parts)].map((part) => {
    return { part, content: letters(textOf(part)) };
  });
  const written = lines.map(letters);
  return (line) => {
    const wanted = (written[line] ?? '').slice(0, longest);
    if (wanted === '') return drawn;
    const holds = ({ content }: { content: string }): boolean => content.includes(wanted);
    const holding = shown.filter(holds).map(({ part }) => part);
    // The parts inside a part follow it at once.
    const smallest = holding.filter((part, at) => !part.contains(holding[at + 1] ?? null));
    // The same text may stand on several lines: they are drawn in the same order.
    const before = written.slice(0, line).filter((other) => other.includes(wanted)).length;
    return smallest[before] ?? smallest.at(-1) ?? drawn;
  };
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

/**
 * The text of a line that is left when it is drawn: no signs, no task's box, no image, no target of a link. No repeat
 * passes a sign that begins the next try: the line may be long, and somebody else's.
 */
function letters(content: string): string {
  return content
    .replace(/^\s*(?:[-*+]|\d+[.)])\s+\[.\]\s/, '')
    .replace(/^\s*\d+[.)]\s/, '')
    .replace(/!\[\[([^[\]|]*)(?:\|[^[\]]*)?\]\]/g, (link, to) =>
      embedLocation(to) === undefined ? link : '',
    )
    .replace(/!\[[^[\]]*\]\([^()]*(?:\([^()]*\)[^()]*){0,9}\)/g, '')
    .replace(/\[\[[^[\]|]*\|([^[\]]*)\]\]/g, '$1')
    .replace(/\]\([^()]*(?:\([^()]*\)[^()]*){0,9}\)/g, '')
    .replace(/[^\p{L}\p{N}]/gu, '');
}
