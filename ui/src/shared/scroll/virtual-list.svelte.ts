/** The range of a long list that is in the page: the rows around the scroll position. */
import { tick } from 'svelte';
import type { Attachment } from 'svelte/attachments';

/** The number of rows that stand in the page at most. */
const most = 80;
/** At the end it moves on in such steps: not every new row moves what stands above it. */
const step = 20;
/** The approximate height of a row in pixels: the room that is left free for each that is not in the page. */
const height = 90;
/** How far from the end still counts as being there. */
const near = 48;

/** A list of `count` rows, each an element `.row-of` of what is followed, in order. */
export class VirtualList {
  readonly #count: () => number;
  /** The first row that stands in the page; `null` keeps the last one there. */
  #first = $state<number | null>(null);
  #scroller: HTMLElement | null = null;

  constructor(count: () => number) {
    this.#count = count;
  }

  /** The first row that stands in the page. */
  get from(): number {
    return Math.min(this.#first ?? this.#end, this.#end);
  }

  /** The row behind the last one that does. */
  get to(): number {
    return this.#first === null ? this.#count() : Math.min(this.#count(), this.from + most);
  }

  /** The free space above, in pixels. */
  get above(): number {
    return this.from * height;
  }

  /** The free space below, in pixels. */
  get below(): number {
    return (this.#count() - this.to) * height;
  }

  /** Has a row stand in the page; one that does already moves nothing. */
  bring(row: number): void {
    if (row < this.from || row >= this.to) this.#first = this.#around(row);
  }

  /** `rows` rows came before all others: what is looked at stays in sight. */
  async preceded(rows: number): Promise<void> {
    if (this.#first === null) return;
    this.#first += rows;
    await tick();
    if (this.#scroller) this.#scroller.scrollTop += rows * height;
  }

  /** Has the rows come and go with what is in sight of the `.scroll` around them. */
  readonly follow: Attachment<HTMLElement> = (list) => {
    const scroller = list.closest<HTMLElement>('.scroll');
    if (!scroller) return undefined;
    this.#scroller = scroller;
    const look = (): void => {
      if (this.#count() > most) void this.#look(list, scroller);
    };
    scroller.addEventListener('scroll', look, { passive: true });
    return () => scroller.removeEventListener('scroll', look);
  };

  /** Where the stretch begins when the last row stands in it. */
  get #end(): number {
    return Math.max(0, Math.ceil((this.#count() - most) / step) * step);
  }

  #around(row: number): number | null {
    const first = Math.max(0, Math.floor(row - most / 2));
    return first >= this.#end ? null : first;
  }

  async #look(list: HTMLElement, scroller: HTMLElement): Promise<void> {
    const first = this.#wanted(list, scroller);
    if (first === this.#first) return;
    const frame = scroller.getBoundingClientRect();
    const seen = boxes(list).find(({ box }) => box.getBoundingClientRect().bottom > frame.top)?.box;
    const before = seen?.getBoundingClientRect().top ?? 0;
    const had = list.contains(document.activeElement);
    this.#first = first;
    await tick();
    // The visible rows stay where they are, however high the rows above them turn out to be.
    if (seen?.isConnected) scroller.scrollTop += seen.getBoundingClientRect().top - before;
    // A row that had the keyboard may have gone; it stays at what is read then.
    if (had && !list.contains(document.activeElement)) scroller.focus({ preventScroll: true });
  }

  /** Where the stretch should begin: with a screen of rows to spare on both sides it stays. */
  #wanted(list: HTMLElement, scroller: HTMLElement): number | null {
    const rows = boxes(list);
    const [top, bottom] = [rows[0]?.box, rows.at(-1)?.box];
    const frame = scroller.getBoundingClientRect();
    if (!top || !bottom || frame.height === 0) return this.#first;
    const head = top.getBoundingClientRect().top;
    const foot = bottom.getBoundingClientRect().bottom;
    const spare = frame.height;
    const rises = this.from > 0 && head > frame.top - spare;
    const sinks = this.to < this.#count() && foot < frame.bottom + spare;
    if (!rises && !sinks) return this.#resting(scroller);
    if (head > frame.top) return this.#around(this.from - (head - frame.top) / height);
    if (foot < frame.top) return this.#around(this.to + (frame.top - foot) / height);
    const seen = rows.find(({ box }) => box.getBoundingClientRect().bottom > frame.top);
    return this.#around(this.from + (seen?.index ?? 0));
  }

  /** New rows at the end do not move a reader further up; a reader at the end goes with them. */
  #resting(scroller: HTMLElement): number | null {
    const rest = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    if (this.#first === null) return rest > near ? this.from : null;
    return rest <= near && this.to === this.#count() ? null : this.#first;
  }
}

/** The rows that have something to show; those without a box have no place. */
function boxes(list: HTMLElement): { index: number; box: Element }[] {
  const rows = [...list.querySelectorAll(':scope > .row-of')];
  return rows.flatMap((row, index) =>
    row.firstElementChild ? [{ index, box: row.firstElementChild }] : [],
  );
}
