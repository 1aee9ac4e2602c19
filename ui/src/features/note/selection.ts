/** The selected text of a note on display, and the heading it stands under. */
export interface Selected {
  readonly text: string;
  readonly heading: string | null;
}

/** The selection in `region`; `null` when it is elsewhere: writing a message does not undo it. */
export function selectedIn(region: HTMLElement, selection: Selection | null): Selected | null {
  const range = selection?.rangeCount ? selection.getRangeAt(0) : null;
  if (!selection || !range || !region.contains(range.commonAncestorContainer)) return null;
  const text = selection.toString().trim();
  return { text, heading: text ? headingAbove(region, range) : null };
}

function headingAbove(region: HTMLElement, range: Range): string | null {
  const above = [...region.querySelectorAll('h1, h2, h3, h4, h5, h6')].filter(
    (heading) => range.comparePoint(heading, 0) < 0 || heading.contains(range.startContainer),
  );
  return above.at(-1)?.textContent.trim() ?? null;
}
