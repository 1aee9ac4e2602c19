/** Caches the rows of a conversation: only the rows of its last turn are built again. */
import type { ChatItem, MessageId, TurnId } from '../../ipc/bindings';
import type { AnswerItem } from '../../state/chat/builtin-replies';
import { lastDay, type Row, type RowOptions, rows } from './rows';

type AllRowOptions = Required<RowOptions>;

interface Read {
  readonly rows: readonly Row[];
  /** The newest answer that a turn ended with. */
  readonly lastAnswer: MessageId | null;
}

/** The items of the last read. */
interface Last extends AllRowOptions {
  readonly items: readonly ChatItem[];
  readonly read: Read;
}

type ActionsRow = Extract<Row, { kind: 'actions' }>;

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

  read(items: readonly ChatItem[], options: AllRowOptions): Read {
    const read = goneOn(this.#last, items, options) ?? this.#readOpen(items, options);
    this.#last = { ...options, items, read };
    return read;
  }

  #readOpen(items: readonly ChatItem[], options: AllRowOptions): Read {
    const begun = Math.max(
      0,
      items.findLastIndex((item) => item.type === 'user' && !item.queued),
    );
    if (!this.#knows(items, begun, options)) this.#learn(items.slice(0, begun), options);
    const open = items.slice(begun);
    this.#open = rows(open, options, this.#day).map((row, at) => kept(this.#open[at], row));
    const all = [...this.#rows, ...this.#open];
    const last = all.findLast((row) => row.kind === 'actions');
    return { rows: all, lastAnswer: last?.answer ?? null };
  }

  #knows(items: readonly ChatItem[], begun: number, options: AllRowOptions): boolean {
    return (
      this.#items.length === begun &&
      this.#passagesAreAnswers === options.passagesAreAnswers &&
      this.#changed === options.changed &&
      this.#items.every((item, at) => item === items[at])
    );
  }

  #learn(items: readonly ChatItem[], options: AllRowOptions): void {
    this.#items = items;
    this.#passagesAreAnswers = options.passagesAreAnswers;
    this.#changed = options.changed;
    this.#rows = rows(items, { ...options, working: false });
    this.#day = lastDay(items);
  }
}

/** The same rows, where nothing has changed but that an answer goes on; `null` where more has. */
function goneOn(
  last: Last | null,
  items: readonly ChatItem[],
  options: AllRowOptions,
): Read | null {
  const { passagesAreAnswers, changed, working } = options;
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
function hasGrown(before: AnswerItem, item: AnswerItem): boolean {
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
