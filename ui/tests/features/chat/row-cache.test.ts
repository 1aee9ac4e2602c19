import { describe, expect, it } from 'vitest';

import { RowCache } from '../../../src/features/chat/row-cache';
import { rows } from '../../../src/features/chat/rows';
import type { ChatItem } from '../../../src/ipc/bindings';
import { answered, userMessage } from '../../fake/stories/base';

const reading = { passagesAreAnswers: false, changed: new Set<string>(), working: false };

/** So many turns, each of a message, a call, an answer and, now and then, an end that went wrong. */
function turns(count: number): ChatItem[] {
  return Array.from({ length: count }, (_, turn): ChatItem[] => [
    userMessage(`u${turn}`, `Message ${turn}`),
    {
      type: 'tool',
      at: 0,
      turn: `t${turn}`,
      call: 'c',
      tool: 'read_file',
      arguments: '{}',
      output: 'done',
      isError: false,
      reactions: [],
    },
    answered(`a${turn}`, `Answer ${turn}`),
    ...(turn % 7 === 0
      ? [{ type: 'ended', turn: `t${turn}`, status: 'failed', error: null, offer: null } as const]
      : []),
  ]).flat();
}

describe('the rows of a conversation that goes on', () => {
  it('are those of all its items, however it grew', () => {
    const items = turns(20);
    const reader = new RowCache();
    for (let length = 0; length <= items.length; length += 1) {
      for (const working of [true, false]) {
        const so_far = items.slice(0, length);
        const changed = new Set(length % 5 === 0 ? ['t1', 't3'] : ['t1']);
        const read = reader.read(so_far, { ...reading, changed, working });
        expect(read.rows).toEqual(rows(so_far, { ...reading, changed, working }));
        const last = read.rows.findLast((row) => row.kind === 'actions');
        expect(read.lastAnswer).toBe(last?.answer ?? null);
      }
    }
  });

  it('are those of all its items while an answer goes on, with rows before and behind it', () => {
    const items = [...turns(3), { ...userMessage('q', 'And then?'), queued: true }];
    const reader = new RowCache();
    const writing = items.findLastIndex(({ type }) => type === 'assistant');
    const words = 'A word and another. '.repeat(20);
    for (let length = 0; length <= words.length; length += 7) {
      const item = { ...answered('a2', words.slice(0, length)), streaming: true };
      const so_far = items.with(writing, item);
      const last = reader.read(so_far, { ...reading, working: true });
      expect(last.rows).toEqual(rows(so_far, { ...reading, working: true }));
      if (length % 5 === 0) {
        // Something else changes as well.
        const other = so_far.with(0, userMessage('u0', `Message ${length}`));
        expect(reader.read(other, reading).rows).toEqual(rows(other, reading));
      }
    }
  });

  it('are made once for the items before the last turn', () => {
    const items = turns(20);
    const reader = new RowCache();
    const before = reader.read(items, reading).rows;
    const grown = items.with(-1, answered('a19', 'Answer 19 and more'));
    const after = reader.read(grown, reading).rows;
    expect(before.filter((row, at) => row !== after[at]).length).toBeLessThanOrEqual(4);
    expect(after.at(-4)).toBe(before.at(-4));
    const other = [answered('a', 'Something else'), ...items.slice(1)];
    expect(reader.read(other, reading).rows).toEqual(rows(other, reading));
  });
});
