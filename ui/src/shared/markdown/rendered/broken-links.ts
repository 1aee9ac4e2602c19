/** Marks broken links in rendered Markdown: they cannot be followed by pointer or keyboard. */

/** All links into the vault, alive or broken. */
const links = 'a[data-note], a[data-broken]';

/** The targets of the drawn links, as they are written. */
export function renderedLinks(root: HTMLElement): string[] {
  return [...root.querySelectorAll<HTMLElement>(links)].map(targetOf);
}

/** Names as links are compared with them. */
export function brokenNames(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map(noteOf));
}

/** Marks those of the drawn links whose target is among the `broken` ones, and makes the others links
 * again. */
export function markBrokenLinks(
  root: HTMLElement,
  broken: ReadonlySet<string>,
  title: string,
): void {
  for (const link of root.querySelectorAll<HTMLElement>(links)) {
    const was = link.dataset['broken'] !== undefined;
    const target = targetOf(link);
    const isBroken = broken.has(noteOf(target));
    if (isBroken) link.title = title;
    if (isBroken === was) continue;
    if (isBroken) {
      delete link.dataset['note'];
      link.dataset['broken'] = target;
      link.removeAttribute('role');
      link.removeAttribute('tabindex');
    } else {
      delete link.dataset['broken'];
      link.dataset['note'] = target;
      link.removeAttribute('title');
      link.setAttribute('role', 'link');
      link.tabIndex = 0;
    }
  }
}

function targetOf({ dataset }: HTMLElement): string {
  return dataset['note'] ?? dataset['broken'] ?? '';
}

/** The note of a target, however it is spelled: no heading, block or ending. */
function noteOf(target: string): string {
  const [name = ''] = target.split(/[#|]/, 1);
  return name.trim().replace(/\.md$/i, '').toLowerCase();
}
