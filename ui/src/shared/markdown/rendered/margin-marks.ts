/** Draws marks in the margin of rendered Markdown, to show who wrote these lines. */
import { blockParts } from './line-element';

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
 * button for each mark. The marks come from top to bottom and share no line. Returns what takes them away.
 */
export function markLines(
  root: HTMLElement,
  blocks: readonly string[],
  marks: readonly MarginMark[],
  onpress: (index: number) => void,
): () => void {
  const parts = new Set<HTMLElement>();
  const signs: HTMLElement[] = [];
  const all = shownParts(root, blocks, marks);
  marks.forEach((mark, index) => {
    const shown = all[index]?.filter((part) => !parts.has(part)) ?? [];
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

/** Those of each mark, from top to bottom, each once. Marks and lines are walked through together. */
function shownParts(
  root: HTMLElement,
  blocks: readonly string[],
  marks: readonly MarginMark[],
): HTMLElement[][] {
  const drawn = root.querySelectorAll<HTMLElement>(':scope > .block');
  const shown = marks.map((): HTMLElement[] => []);
  let [start, at] = [0, 0];
  blocks.forEach((block, index) => {
    const lines = block.split('\n');
    const written = lines.flatMap((line, number) => (line.trim() === '' ? [] : [number]));
    const marked = new Map<number, number[]>();
    for (const line of written) {
      while ((marks[at]?.last ?? Infinity) < start + line) at += 1;
      if ((marks[at]?.first ?? Infinity) > start + line) continue;
      const same = marked.get(at);
      if (same) same.push(line);
      else marked.set(at, [line]);
    }
    start += lines.length - 1;
    const element = drawn.item(index);
    if (!element) return;
    const isWhole = (some: readonly number[]): boolean =>
      some.length === written.length || written.length > longest;
    const find = [...marked.values()].every(isWhole) ? null : markable(element, lines);
    for (const [mark, some] of marked) {
      const its = isWhole(some) || !find ? [element] : outermost(some.map(find));
      shown[mark]?.push(...its);
    }
  });
  return shown;
}

/** An element that scrolls inside its own box has no margin: its block has. */
function markable(block: HTMLElement, lines: readonly string[]): (line: number) => HTMLElement {
  const partOf = blockParts(block, lines);
  return (line) => {
    const part = partOf(line);
    return part.closest('table, pre') ? block : part;
  };
}

/** Each once, and none inside another one. */
function outermost(all: readonly HTMLElement[]): HTMLElement[] {
  const parts = [...new Set(all)];
  return parts.filter((part) => !parts.some((other) => other !== part && other.contains(part)));
}
