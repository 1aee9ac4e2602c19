/** The rows of a conversation that goes on: what stands before its last turn is made into rows once. */
import type { Item, MessageId, TurnId } from '../../ipc/bindings';
import { lastAnswers, lastDay, type Row, rows } from './rows';

interface Reading {
  readonly passagesAreAnswers: boolean;
  readonly changed: ReadonlySet<TurnId>;
  readonly working: boolean;
}

interface Read {
  readonly rows: readonly Row[];
  /** Whether a turn ended with this answer. */
  readonly isLast: (answer: MessageId) => boolean;
  /** The newest answer that a turn ended with. */
  readonly lastAnswer: MessageId | null;
}

/** One conversation's; the same items in front are not read again. */
export class ReadRows {
  #items: readonly Item[] = [];
  #passagesAreAnswers = false;
  #changed: ReadonlySet<TurnId> = new Set();
  #rows: readonly Row[] = [];
  #answers: ReadonlySet<MessageId> = new Set();
  #lastAnswer: MessageId | null = null;
  #day = '';
  /** The rows of the last turn, as they were read last. */
  #last: readonly Row[] = [];

  read(items: readonly Item[], reading: Reading): Read {
    const begun = Math.max(
      0,
      items.findLastIndex((item) => item.type === 'user' && !item.queued),
    );
    if (!this.#knows(items, begun, reading)) this.#learn(items.slice(0, begun), reading);
    const open = items.slice(begun);
    const before = this.#answers;
    const answers = lastAnswers(open, reading.working);
    this.#last = rows(open, reading, this.#day).map((row, at) => kept(this.#last[at], row));
    return {
      rows: [...this.#rows, ...this.#last],
      isLast: (answer) => before.has(answer) || answers.has(answer),
      lastAnswer: [...answers].at(-1) ?? this.#lastAnswer,
    };
  }

  #knows(items: readonly Item[], begun: number, reading: Reading): boolean {
    return (
      this.#items.length === begun &&
      this.#passagesAreAnswers === reading.passagesAreAnswers &&
      this.#changed === reading.changed &&
      this.#items.every((item, at) => item === items[at])
    );
  }

  #learn(items: readonly Item[], reading: Reading): void {
    this.#items = items;
    this.#passagesAreAnswers = reading.passagesAreAnswers;
    this.#changed = reading.changed;
    this.#rows = rows(items, { ...reading, working: false });
    this.#answers = lastAnswers(items, false);
    this.#lastAnswer = [...this.#answers].at(-1) ?? null;
    this.#day = lastDay(items);
  }
}

/** A row that still says what it said is the same row: nobody looks at it again. */
function kept(before: Row | undefined, row: Row): Row {
  const said = before?.kind === 'item' && row.kind === 'item' && before.item === row.item;
  const day = before?.kind === 'day' && row.kind === 'day' && before.at === row.at;
  return before && (said || day) && before.key === row.key ? before : row;
}
