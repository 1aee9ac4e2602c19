/** Marks invisible characters in rendered HTML. */
import { m } from '../../../messages/messages';
import { invisibleRanges, splitInvisible } from '../../text/invisible';

/** Puts a mark for each run of such characters in the texts below `root`. */
export function markInvisible(root: Node): void {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode()) {
    if (walker.currentNode instanceof Text) texts.push(walker.currentNode);
  }
  for (const text of texts) {
    if (invisibleRanges(text.data).length === 0) continue;
    text.replaceWith(
      ...splitInvisible(text.data).map((piece, at) => (at % 2 === 1 ? mark(piece) : piece)),
    );
  }
}

function mark(unseen: string): HTMLElement {
  const span = document.createElement('span');
  span.className = 'unseen';
  span.title = m.unseen({ count: [...unseen].length });
  span.textContent = '⊘';
  return span;
}
