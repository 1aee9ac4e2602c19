/** Highlights words in rendered text without changing its elements. */
import type { Attachment } from 'svelte/attachments';

const name = 'found';

/** Sets these words apart, in any case, wherever they stand in the element. */
export function highlight(terms: readonly string[]): Attachment {
  return (root) => {
    // An older window shows the line alone.
    if (!('highlights' in CSS)) return undefined;
    const found = CSS.highlights.get(name) ?? new Highlight();
    CSS.highlights.set(name, found);
    const places = rangesOf(root, terms);
    for (const place of places) found.add(place);
    return () => {
      for (const place of places) found.delete(place);
    };
  };
}

/** Where these words stand, in the order of the text; a word over two elements is not seen. */
export function rangesOf(root: Node, terms: readonly string[]): Range[] {
  const wanted = terms.filter((word) => word.trim() !== '').map(escaped);
  if (wanted.length === 0) return [];
  // The longest first: where two begin, the longer is meant.
  wanted.sort((one, other) => other.length - one.length);
  const pattern = new RegExp(wanted.join('|'), 'giu');
  const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const places: Range[] = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const match of (node.nodeValue ?? '').matchAll(pattern)) {
      const place = new Range();
      place.setStart(node, match.index);
      place.setEnd(node, match.index + match[0].length);
      places.push(place);
    }
  }
  return places;
}

function escaped(word: string): string {
  return word.replace(/[$()*+./?[\\\]^{|}]/g, '\\$&');
}
