/** Draws marks in the margin of rendered Markdown, to show who wrote these lines. */
import { blockElement } from './line-element';

/** Lines that belong together, 0-based, and what their mark is called. */
export interface MarginMark {
  readonly first: number;
  readonly last: number;
  readonly label: string;
}

/** A longer block is marked whole. */
const longest = 300;

/**
 * Marks the drawn parts that show these lines of the text whose `blocks` were drawn in `root`, with one
 * button for each mark. Returns what takes the marks away.
 */
export function markLines(
  root: HTMLElement,
  blocks: readonly string[],
  marks: readonly MarginMark[],
  onpress: (index: number) => void,
): () => void {
  const parts = new Set<HTMLElement>();
  const signs: HTMLElement[] = [];
  marks.forEach((mark, index) => {
    const shown = shownParts(root, blocks, mark).filter((part) => !parts.has(part));
    const [first] = shown;
    if (!first) return;
    for (const part of shown) {
      parts.add(part);
      part.dataset['marked'] = '';
    }
    const sign = signOf(mark, () => onpress(index));
    signs.push(sign);
    // Behind the text: the first element of a block has its own distance.
    first.append(sign);
  });
  return () => {
    for (const part of parts) delete part.dataset['marked'];
    for (const sign of signs) sign.remove();
  };
}

function signOf({ label }: MarginMark, onpress: () => void): HTMLElement {
  const sign = document.createElement('button');
  sign.type = 'button';
  sign.className = 'margin-sign';
  sign.title = label;
  sign.setAttribute('aria-label', label);
  sign.addEventListener('click', onpress);
  return sign;
}

/** From top to bottom, each once. */
function shownParts(
  root: HTMLElement,
  blocks: readonly string[],
  { first, last }: MarginMark,
): HTMLElement[] {
  const drawn = root.querySelectorAll<HTMLElement>(':scope > .block');
  const shown = new Set<HTMLElement>();
  let start = 0;
  blocks.forEach((block, index) => {
    const lines = block.split('\n');
    const element = drawn.item(index);
    const isWritten = (line: number): boolean => (lines[line] ?? '').trim() !== '';
    const written = lines.map((_, line) => line).filter(isWritten);
    const marked = written.filter((line) => start + line >= first && start + line <= last);
    start += lines.length - 1;
    if (!element || marked.length === 0) return;
    const isWhole = marked.length === written.length || written.length > longest;
    for (const line of isWhole ? [] : marked) shown.add(markable(element, lines, line));
    if (isWhole) shown.add(element);
  });
  return [...shown].filter((part) => ![...shown].some((other) => isInside(part, other)));
}

/** An element that scrolls inside its own box has no margin: its block has. */
function markable(block: HTMLElement, lines: readonly string[], line: number): HTMLElement {
  const part = blockElement(block, lines, line);
  return part.closest('table, pre') ? block : part;
}

function isInside(part: HTMLElement, other: HTMLElement): boolean {
  return other !== part && other.contains(part);
}
