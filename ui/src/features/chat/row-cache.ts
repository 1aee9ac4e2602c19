/** Caches the rows of a conversation: only the rows of its last turn are built again. */
import type { ChatItem, MessageId, TurnId } from '../../ipc/bindings';
import { lastDay, type Row, rows } from './rows';

interface Reading {
  readonly passagesAreAnswers: boolean;
  readonly changed: ReadonlySet<TurnId>;
  readonly working: boolean;
}

interface Read {
  readonly rows: readonly Row[];
  /** The newest answer that a turn ended with. */
  readonly lastAnswer: MessageId | null;
}

/** The items of the last read. */
interface Last extends Reading {
  readonly items: readonly ChatItem[];
  readonly read: Read;
}

type ActionsRow = Extract<Row, { kind: 'actions' }>;
type Answer = Extract<ChatItem, { type: 'assistant' }>;

/** One conversation's; the same items in front are not read again. */
export class RowCache {
  #items: readonly ChatItem[] = [];
  #passagesAreAnswers = false;
  #changed: ReadonlySet<TurnId> = new Set();
  #rows: readonly Row[] = [];
  #day = '';
  /** The rows of the last turn, as they were read last. */
  #open: readonly Row[] = [];
  #last: Last | null = null;

  read(items: readonly ChatItem[], reading: Reading): Read {
    const read = goneOn(this.#last, items, reading) ?? this.#readOpen(items, reading);
    this.#last = { ...reading, items, read };
    return read;
  }

  #readOpen(items: readonly ChatItem[], reading: Reading): Read {
    const begun = Math.max(
      0,
      items.findLastIndex((item) => item.type === 'user' && !item.queued),
    );
    if (!this.#knows(items, begun, reading)) this.#learn(items.slice(0, begun), reading);
    const open = items.slice(begun);
    this.#open = rows(open, reading, this.#day).map((row, at) => kept(this.#open[at], row));
    const all = [...this.#rows, ...this.#open];
    const last = all.findLast((row) => row.kind === 'actions');
    return { rows: all, lastAnswer: last?.answer ?? null };
  }

  #knows(items: readonly ChatItem[], begun: number, reading: Reading): boolean {
    return (
      this.#items.length === begun &&
      this.#passagesAreAnswers === reading.passagesAreAnswers &&
      this.#changed === reading.changed &&
      this.#items.every((item, at) => item === items[at])
    );
  }

  #learn(items: readonly ChatItem[], reading: Reading): void {
    this.#items = items;
    this.#passagesAreAnswers = reading.passagesAreAnswers;
    this.#changed = reading.changed;
    this.#rows = rows(items, { ...reading, working: false });
    this.#day = lastDay(items);
  }
}

/** The same rows, where nothing has changed but that an answer goes on; `null` where more has. */
function goneOn(last: Last | null, items: readonly ChatItem[], reading: Reading): Read | null {
  const { passagesAreAnswers, changed, working } = reading;
  if (!working || last?.items.length !== items.length || last.changed !== changed) return null;
  if (last.passagesAreAnswers !== passagesAreAnswers || last.working !== working) return null;
  const at = items.findIndex((item, index) => item !== last.items[index]);
  const [before, item] = [last.items[at], items[at]];
  const isOne = items.findLastIndex((other, index) => other !== last.items[index]) === at;
  if (!isOne || before?.type !== 'assistant' || item?.type !== 'assistant') return null;
  if (!hasGrown(before, item)) return null;
  const row = last.read.rows.findLastIndex((one) => one.kind === 'item' && one.item === before);
  const drawn = last.read.rows[row];
  if (drawn?.kind !== 'item') return null;
  return { ...last.read, rows: last.read.rows.with(row, { ...drawn, item }) };
}

/** Whether only text was appended; the beginning of a text tells who wrote it. */
function hasGrown(before: Answer, item: Answer): boolean {
  const same = before.id === item.id && before.cut === item.cut;
  const told = before.text.length > 80 && item.text.startsWith(before.text);
  return same && told && before.streaming && item.streaming;
}

/** An unchanged row is the same object: it is not drawn again. */
function kept(before: Row | undefined, row: Row): Row {
  const isSame = before?.kind === 'item' && row.kind === 'item' && before.item === row.item;
  const day = before?.kind === 'day' && row.kind === 'day' && before.at === row.at;
  const actions = before?.kind === 'actions' && row.kind === 'actions' && sameTexts(before, row);
  return before && (isSame || day || actions) && before.key === row.key ? before : row;
}

function sameTexts(one: ActionsRow, other: ActionsRow): boolean {
  const same = one.texts.every((text, at) => text === other.texts[at]);
  return same && one.texts.length === other.texts.length;
}
