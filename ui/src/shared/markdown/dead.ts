/** Links to what is not there are words with a mark: they lead nowhere, by pointer or by key. */

/** Marks those of the drawn links whose target is among the `dead` ones, and makes the others links
 * again. */
export function markDead(root: HTMLElement, dead: readonly string[], words: string): void {
  const gone = dead.map(noteOf);
  for (const link of root.querySelectorAll<HTMLElement>('a[data-note], a[data-dead]')) {
    const { note, dead: was } = link.dataset;
    const target = note ?? was ?? '';
    const isDead = gone.includes(noteOf(target));
    if (isDead) link.title = words;
    if (isDead === (was !== undefined)) continue;
    if (isDead) {
      delete link.dataset['note'];
      link.dataset['dead'] = target;
      link.removeAttribute('role');
      link.removeAttribute('tabindex');
    } else {
      delete link.dataset['dead'];
      link.dataset['note'] = target;
      link.removeAttribute('title');
      link.setAttribute('role', 'link');
      link.tabIndex = 0;
    }
  }
}

/** The note of a target, however it is spelled: no heading, block or ending. */
function noteOf(target: string): string {
  const [name = ''] = target.split(/[#|]/, 1);
  return name.trim().replace(/\.md$/i, '').toLowerCase();
}
