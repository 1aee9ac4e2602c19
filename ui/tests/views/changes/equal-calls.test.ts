import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { AppliedSet, ChangeStatus, ChatItem, Review } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { answered } from '../../fake/stories/base';
import { equal } from '../../fake/stories/changes/review';

const conversation = 'minutes-done';

/** The window over twelve calls that propose a property in twelve notes, the same but for the last one. */
async function open(last = 'done') {
  const story = equal();
  const [before] = story.views;
  const review = before?.review;
  if (!before || !review) throw new Error('the story has no review');
  const paths = review.notes.map(({ path }) => path);
  const calls = paths.map((path, at): ChatItem => {
    const value = at === paths.length - 1 ? last : 'done';
    const given = { path, property: 'status', action: 'set', value };
    return {
      type: 'tool',
      at: 0,
      turn: 't1',
      call: `c${String(at)}`,
      tool: 'set_property',
      arguments: JSON.stringify(given),
      output: 'The change waits for the user.',
      isError: false,
      reactions: [{ type: 'changed', path, created: false, added: 1, removed: 0, waiting: true }],
    };
  });
  const [message, ...rest] = before.items;
  if (!message) throw new Error('the story has no message');
  const host = new FakeHost({
    ...story,
    views: [{ ...before, items: [message, ...calls, ...rest] }],
  });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, paths, review };
}

/** The lines of the calls, each with its state at the end. */
async function expectLines(...lines: readonly string[]): Promise<void> {
  await waitFor(() => {
    const shown = screen.getAllByRole('button', { name: /^Proposed change/ });
    expect(shown.map((one) => one.textContent.trim().replaceAll(/\s+/g, ' '))).toEqual(lines);
  });
}

/** The only line of the calls, with its state at the end. */
async function expectState(state: string): Promise<void> {
  const line = new RegExp(`^Proposed changes to 12 notes ${state}$`);
  await waitFor(() => expect(screen.getByRole('button', { name: line })).toBeVisible());
  expect(screen.getAllByRole('button', { name: /^Proposed change/ })).toHaveLength(1);
}

/** The user decided about these notes, and this is left. */
function decide(
  host: FakeHost,
  applied: readonly string[],
  rejected: readonly string[],
  left: Review | null,
): void {
  const item = { type: 'decision', id: 'd', at: 0 } as const;
  const lists = { applied: [...applied], rejected: [...rejected] };
  host.tell({ type: 'item_changed', conversation, item: { ...item, ...lists } });
  host.tell({ type: 'review_changed', conversation, review: left });
}

/** What was told before is drawn once this answer is. */
async function settle(host: FakeHost, text: string): Promise<void> {
  host.tell({ type: 'item_changed', conversation, item: answered(text, text) });
  await screen.findByText(text);
}

/** The applied changes, each in this state. */
function applied(paths: readonly string[], standing: (at: number) => ChangeStatus): AppliedSet {
  const notes = paths.map((path, at) => ({
    ...({ effect: path, turn: 't1', path, target: null, kind: 'replace', unit: null } as const),
    ...{ added: 1, removed: 0, standing: standing(at), tooOld: false },
  }));
  return { id: 's', conversation, turn: 't1', by: 'assistant', request: '', at: 0, notes };
}

describe('two lines for eleven equal calls and one that differs in a letter', () => {
  it('say that they need review, and each opens to its own calls', async () => {
    await open('dune');
    await expectLines(
      'Proposed changes to 11 notes needs review',
      'Proposed changes to 2026-12 needs review',
    );
    const keys = userEvent.setup();
    await keys.click(screen.getByRole('button', { name: /^Proposed changes to 11 notes/ }));
    await keys.click(screen.getByRole('button', { name: 'Tool call details' }));
    expect(screen.getAllByText(/"property":"status"/)).toHaveLength(11);
    expect(screen.queryByText(/"value":"dune"/)).toBeNull();
  });

  it('have the states of their own notes', async () => {
    const { host, paths, review } = await open('dune');
    const others = paths.slice(0, -1);
    decide(host, others, [], { ...review, notes: review.notes.slice(-1) });
    await expectLines(
      'Proposed changes to 11 notes applied',
      'Proposed changes to 2026-12 needs review',
    );
    decide(host, others, paths.slice(-1), null);
    await expectLines(
      'Proposed changes to 11 notes applied',
      'Proposed changes to 2026-12 rejected',
    );
    host.tell({ type: 'applied_changed', set: applied(others, () => 'undone') });
    await expectLines(
      'Proposed changes to 11 notes undone',
      'Proposed changes to 2026-12 rejected',
    );
  });
});

describe('the line of twelve equal calls', () => {
  it('does not take the state of other notes and of other turns', async () => {
    const { host, paths, review } = await open();
    decide(host, ['Other.md'], ['Minutes/2026-13.md'], review);
    await settle(host, 'Both are decided.');
    await expectState('needs review');
    decide(host, paths, [], null);
    await expectState('applied');
    const set = applied(paths, () => 'undone');
    const notes = set.notes.map((note) => ({ ...note, turn: 't2' }));
    host.tell({ type: 'applied_changed', set: { ...set, notes } });
    await settle(host, 'The other turn is undone.');
    await expectState('applied');
    host.tell({ type: 'applied_changed', set });
    await expectState('undone');
  });
});

describe('one line for twelve equal calls', () => {
  it('says that they need review, and opens to each call', async () => {
    await open();
    await expectState('needs review');
    const keys = userEvent.setup();
    await keys.click(screen.getByRole('button', { name: /^Proposed changes to 12 notes/ }));
    await keys.click(screen.getByRole('button', { name: 'Tool call details' }));
    expect(screen.getAllByText(/"property":"status"/)).toHaveLength(12);
  });

  it('says that they were applied, and then undone', async () => {
    const { host, paths } = await open();
    decide(host, paths, [], null);
    host.tell({ type: 'applied_changed', set: applied(paths, () => 'stands') });
    await expectState('applied');
    const some = applied(paths, (at) => (at === 0 ? 'undone' : 'stands'));
    host.tell({ type: 'applied_changed', set: some });
    await expectState('partly undone');
    host.tell({ type: 'applied_changed', set: applied(paths, () => 'undone') });
    await expectState('undone');
  });

  it('says that they were rejected', async () => {
    const { host, paths } = await open();
    decide(host, [], paths, null);
    await expectState('rejected');
  });

  it('says that a part of them was applied, and not before all are decided', async () => {
    const { host, paths, review } = await open();
    const [last] = review.notes.slice(-1);
    if (!last) throw new Error('the review is empty');
    decide(host, paths.slice(0, 6), paths.slice(6, -1), { ...review, notes: [last] });
    await expectState('needs review');
    decide(host, paths.slice(0, 6), paths.slice(6), null);
    await expectState('partly applied');
  });
});
