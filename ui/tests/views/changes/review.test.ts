import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import type { DiffLine, NoteDiff, NotePath } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';
import { changes } from '../../fake/stories/changes/changes';
import { line } from '../../fake/stories/changes/diff';
import type { Story } from '../../fake/story';

/** The review of a story, once it is drawn. */
async function openReview(story: string, change: (story: Story) => Story = (told) => told) {
  const tell = stories[story];
  if (!tell) throw new Error(`no story ${story}`);
  const host = new FakeHost(change(tell()));
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const keys = userEvent.setup();
  await keys.click(await screen.findByTestId('review-open'));
  await screen.findByTestId('review-apply');
  return { host, session, keys };
}

/** The story with another value in the last of its notes. */
function withOtherValue(story: Story): Story {
  const views = story.views.map((view) => {
    const notes = (view.review?.notes ?? []).map((note, at, { length }) => {
      const other = note.hunks.map((hunk) => ({ ...hunk, lines: [line('added', 'status: dune')] }));
      return at === length - 1 ? { ...note, hunks: other } : note;
    });
    return { ...view, review: view.review && { ...view.review, notes } };
  });
  return { ...story, views };
}

describe('the same property in twelve notes', () => {
  it('is not one decision with a value that differs in a letter', async () => {
    const { host, keys } = await openReview('equal', withOtherValue);
    expect(screen.getByRole('heading', { name: '12 notes, 2 decisions' })).toBeVisible();
    const same = screen.getByRole('region', { name: 'Same property' });
    expect(same).toHaveTextContent('11 places in 11 notes');
    await keys.keyboard('a');
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    const given = host.decided()[0]?.notes.map(({ path, decision }) => [path, decision.type]);
    expect(given).toHaveLength(11);
    expect(given).not.toContainEqual(['Minutes/2026-12.md', 'accept']);
  });

  it('is one decision, and places can be excluded from it', async () => {
    const { host, keys } = await openReview('equal');
    expect(screen.getByRole('heading', { name: '12 notes, 1 decision' })).toBeVisible();
    const same = screen.getByRole('region', { name: 'Same property' });
    expect(same).toHaveTextContent('12 places in 12 notes');
    expect(within(same).getByText('status: done').tagName).toBe('INS');
    await keys.keyboard('a');
    await keys.click(within(same).getByRole('button', { name: 'Exclude Minutes/2026-02' }));
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    const given = host.decided()[0]?.notes.map(({ decision }) => decision.type);
    expect(given?.toSorted()).toEqual([...Array<string>(11).fill('accept'), 'reject']);
  });
});

describe('a place that is excluded from the same change in many notes', () => {
  const name = 'Minutes/2026-02';

  async function exclude() {
    const { host, session, keys } = await openReview('equal');
    const same = screen.getByRole('region', { name: 'Same property' });
    const button = (label: string | RegExp) => within(same).getByRole('button', { name: label });
    await keys.click(button(`Exclude ${name}`));
    const decisions = session.app.chat?.reviewDecisions;
    const place = () => decisions?.hunk(`${name}.md`, 0);
    return { host, keys, same, button, decisions, place };
  }

  it('stays excluded when the others are accepted later', async () => {
    const { host, keys, button } = await exclude();
    await keys.keyboard('a');
    expect(button('11 accepted')).toBeVisible();
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    const given = host.decided()[0]?.notes.map(({ decision }) => decision.type);
    expect(given?.toSorted()).toEqual([...Array<string>(11).fill('accept'), 'reject']);
  });

  it('stays excluded when the decision about the others is cleared', async () => {
    const { keys, button, decisions, place } = await exclude();
    await keys.click(button(/^Accept/));
    await keys.click(button('11 accepted'));
    expect([decisions?.count, place()]).toEqual([1, 'reject']);
    await keys.click(button(/^Accept/));
    expect(button('11 accepted')).toBeVisible();
  });

  it('is as undecided as the others once it is included again', async () => {
    const { keys, button, decisions, place } = await exclude();
    await keys.click(button(`Include ${name}`));
    expect([decisions?.count, place()]).toEqual([0, null]);
    await keys.keyboard('a');
    await keys.click(button(`Exclude ${name}`));
    await keys.click(button(`Include ${name}`));
    expect(place()).toBe('accept');
  });

  it('is rejected with the others, and accepted with them then', async () => {
    const { keys, button, decisions } = await exclude();
    await keys.click(button(/^Reject/));
    expect(decisions?.with('reject')).toHaveLength(12);
    await keys.click(button(/^Accept/));
    expect(button('12 accepted')).toBeVisible();
  });
});

describe('the button that accepts everything', () => {
  const accept = () => screen.getByRole('button', { name: /^Accept (all|the rest)/ });

  it('leaves excluded places rejected, and says so', async () => {
    const { host, keys } = await openReview('equal');
    expect(accept()).toHaveTextContent('Accept all');
    await keys.click(screen.getByRole('button', { name: 'Exclude Minutes/2026-02' }));
    expect(accept()).toHaveTextContent('Accept the rest');
    await keys.click(accept());
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    const given = host.decided()[0]?.notes.map(({ path, decision }) => [path, decision.type]);
    expect(given?.filter(([, type]) => type !== 'accept')).toEqual([
      ['Minutes/2026-02.md', 'reject'],
    ]);
    expect(given).toHaveLength(12);
  });

  it('can do nothing once everything is rejected, except deletions', async () => {
    const { keys } = await openReview('moves');
    expect(accept()).toHaveTextContent('Accept all except deletions');
    await keys.click(screen.getByRole('button', { name: 'Reject all' }));
    expect(accept()).toHaveTextContent('Accept the rest except deletions');
    expect(accept()).toBeDisabled();
  });
});

describe('a place that the user edited', () => {
  it('keeps its lines in the card of the same change, and is told apart there', async () => {
    const { host, session, keys } = await openReview('equal');
    const path = 'Minutes/2026-09.md';
    session.app.chat?.reviewDecisions.choose(path, 0, { edit: 'status: almost' });
    const same = screen.getByRole('region', { name: 'Same property' });
    expect(await within(same).findByText('status: almost')).toBeVisible();
    expect(within(same).getAllByText('edited by you')).toHaveLength(1);
    expect(within(same).getAllByRole('button', { name: /^Exclude/ })).toHaveLength(4);
    await keys.keyboard('a');
    // Excluded and included again it is accepted with the same lines.
    const name = 'Minutes/2026-09';
    await keys.click(within(same).getByRole('button', { name: `Exclude ${name}` }));
    expect(within(same).getByText('status: almost')).toBeVisible();
    await keys.click(within(same).getByRole('button', { name: `Include ${name}` }));
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    const given = host.decided()[0]?.notes.map(({ path, decision }) => ({ path, decision }));
    expect(given).toHaveLength(12);
    expect(given?.filter(({ decision }) => decision.type !== 'accept')).toEqual([
      {
        path,
        decision: { type: 'hunks', hunks: [{ type: 'edit', text: 'status: almost' }] },
      },
    ]);
  });
});

/** Turns the direction of the text behind it. */
const unseen = '\u202e';

/** The story with other notes to review. */
function withNotes(story: Story, change: (note: NoteDiff) => NoteDiff): Story {
  const views = story.views.map((view) => {
    const review = view.review && { ...view.review, notes: view.review.notes.map(change) };
    return { ...view, review };
  });
  return { ...story, views };
}

function expectMarks(part: Element | null): void {
  expect(part?.querySelector('.unseen')).not.toBeNull();
  expect(part?.textContent).not.toContain(unseen);
}

describe('characters that nobody sees', () => {
  const property = 'Same property';
  it.each<[string, string, DiffLine[]]>([
    ['lines', property, [line('added', `status: done${unseen}`)]],
    ['a value', property, [line('removed', 'status: new'), line('added', `status: ${unseen}done`)]],
    ['a link', 'Link target', [line('removed', 'See [[A]]'), line('added', `See [[B${unseen}]]`)]],
  ])('are marked in %s that many notes get', async (_, name, lines) => {
    const { session } = await openReview('equal', (story) =>
      withNotes(story, (note) => ({
        ...note,
        hunks: note.hunks.map((hunk) => ({ ...hunk, lines })),
      })),
    );
    expectMarks(screen.getByRole('region', { name }));
    expectMarks(screen.getByTestId('review-apply').closest('.review'));
    session.backToChat();
    expectMarks((await screen.findByTestId('review-open')).closest('section'));
  });

  it('are marked in the names of what moves or is removed, and in its text', async () => {
    const other = (path: NotePath): NotePath => path.replace('Reading', `Reading${unseen}`);
    const { session } = await openReview('moves', (story) => ({
      ...withNotes(story, (note) => ({
        ...note,
        path: other(note.path),
        to: note.to === null ? null : `${note.to}${unseen}`,
        hunks: [],
        problem: note.problem === null ? null : `Look at ${unseen}it.`,
      })),
      notes: Object.fromEntries(
        Object.keys(story.notes).map((path) => [other(path), `# Hidden${unseen}`]),
      ),
    }));
    const text = await screen.findByRole('region', { name: 'Text of the note' });
    expectMarks(text);
    expectMarks(screen.getByTestId('review-apply').closest('.review'));
    session.backToChat();
    expectMarks((await screen.findByTestId('review-open')).closest('section'));
  });
});

describe('an open editor', () => {
  it('stays with its place when the note gets a change above it', async () => {
    const { host, session, keys } = await openReview('review');
    const review = session.app.chat?.review;
    const library = review?.notes[0];
    if (!review || !library) throw new Error('nothing is pending');
    await keys.keyboard('je');
    const editor = await screen.findByRole('textbox', { name: 'New lines' });
    await keys.clear(editor);
    await keys.type(editor, 'Mine');

    const [first, ...others] = library.hunks;
    if (!first) throw new Error('no place');
    const above = { ...first, oldStart: 5, newStart: 5, lines: [line('added', 'From the model')] };
    const notes = review.notes.map((note) =>
      note === library ? { ...note, seen: 'later', hunks: [first, above, ...others] } : note,
    );
    host.tell({ type: 'review_changed', conversation: 'harbour', review: { ...review, notes } });
    await screen.findByText('From the model');
    expect(screen.getByRole('textbox', { name: 'New lines' })).toHaveValue('Mine');
    await keys.click(screen.getByRole('textbox', { name: 'New lines' }));
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await keys.click(screen.getByTestId('review-apply'));
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    expect(host.decided()[0]?.notes).toMatchObject([
      {
        path: library.path,
        decision: {
          type: 'hunks',
          hunks: [
            { type: 'wait' },
            { type: 'wait' },
            { type: 'edit', text: 'Mine' },
            { type: 'wait' },
          ],
        },
      },
    ]);
  });
});

describe('the list of keys over a review', () => {
  it('takes no key of the review', async () => {
    const { keys } = await openReview('review');
    await keys.keyboard('?');
    const list = await screen.findByRole('dialog');
    await keys.keyboard('a');
    expect(screen.getByTestId('review-apply')).toBeDisabled();
    list.dispatchEvent(new Event('cancel'));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await keys.keyboard('a');
    expect(screen.getByTestId('review-apply')).toBeEnabled();
  });
});

describe('a note on its way to the trash', () => {
  it('shows its text and the links that lead to it', async () => {
    await openReview('moves');
    const note = within(screen.getByRole('region', { name: 'Reading room.md.bak' }));
    expect(await note.findByRole('region', { name: 'Text of the note' })).toHaveTextContent(
      '# Reading room The state of **October**.',
    );
    const links = note.getByRole('list', { name: 'Backlinks' });
    expect(links).toHaveTextContent('Diary/2026-10-30 line 4');
    expect(note.getByText('1 more not shown')).toBeVisible();
  });

  it('says why its text cannot be shown', async () => {
    const { session, host } = await openReview('moves');
    session.backToChat();
    await screen.findByTestId('composer');
    host.refusals.set('readNote', { code: 'vault', message: 'It is gone.' });
    session.openReview();
    expect(await screen.findByText('It is gone.')).toBeVisible();
  });
});

/** The place of the review that has the keyboard. */
const place = () => document.activeElement?.getAttribute('data-stop');

describe('the keys of a review', () => {
  it('go to the next undecided place after a decision, and stay at the last one', async () => {
    const { keys, session } = await openReview('moves');
    const reviewDecisions = session.app.chat?.reviewDecisions;
    const stops = [...document.querySelectorAll('[data-stop]')].map((one) =>
      one.getAttribute('data-stop'),
    );
    expect(stops.length).toBeGreaterThan(3);
    await waitFor(() => expect(place()).toBe(stops[0]));
    await keys.keyboard('j');
    await waitFor(() => expect(place()).toBe(stops[1]));
    await keys.keyboard('a');
    await waitFor(() => expect(place()).toBe(stops[2]));
    await keys.keyboard('k');
    await waitFor(() => expect(place()).toBe(stops[1]));
    await keys.keyboard('k');
    await waitFor(() => expect(place()).toBe(stops[0]));
    await keys.keyboard('r');
    // The second one is decided.
    await waitFor(() => expect(place()).toBe(stops[2]));
    for (let left = stops.length - 2; left > 0; left -= 1) await keys.keyboard('r');
    await waitFor(() => expect(place()).toBe(stops.at(-1)));
    expect(screen.getByText(`${stops.length} of ${stops.length} reviewed`)).toBeVisible();
    const rejected = reviewDecisions?.with('reject').length;
    await keys.keyboard('r');
    expect(reviewDecisions?.with('reject').length).toBe(rejected);
  });

  it.each(['a', 'r', 'A', 'R'])('decide about one place, however long %s is held', async (key) => {
    const { session } = await openReview('moves');
    const press = { key, shiftKey: key === key.toUpperCase() };
    await fireEvent.keyDown(document.body, press);
    const decided = session.app.chat?.reviewDecisions.count;
    expect(decided).toBeGreaterThan(0);
    await fireEvent.keyDown(document.body, { ...press, repeat: true });
    expect(session.app.chat?.reviewDecisions.count).toBe(decided);
    await fireEvent.keyDown(document.body, press);
    expect(session.app.chat?.reviewDecisions.count).toBeGreaterThan(decided ?? 0);
  });

  it('undo and redo nothing that was applied before', async () => {
    const { applied } = changes();
    if (!applied) throw new Error('nothing was applied');
    const { host, session, keys } = await openReview('review', (told) => ({ ...told, applied }));
    await session.undo.undoLast();
    await keys.keyboard('a{Control>}z{/Control}{Control>}{Shift>}z{/Shift}{/Control}');
    expect(host.asked('undo')).toHaveLength(1);
    expect(session.app.chat?.reviewDecisions.count).toBe(1);
    // The control: the conversation is in front of the user.
    session.backToChat();
    await keys.click(await screen.findByTestId('chat-log'));
    await keys.keyboard('{Control>}{Shift>}z{/Shift}{/Control}');
    await waitFor(() => expect(host.asked('undo')).toHaveLength(2));
    await keys.keyboard('{Control>}z{/Control}');
    await waitFor(() => expect(host.asked('undo')).toHaveLength(3));
  });

  it('undo and redo decisions one by one, and show the place of each', async () => {
    const { keys, session } = await openReview('review');
    const count = () => session.app.chat?.reviewDecisions.count;
    await waitFor(() => expect(place()).not.toBeNull());
    const first = place();
    await keys.keyboard('a');
    await waitFor(() => expect(place()).not.toBe(first));
    await keys.keyboard('{Control>}z{/Control}');
    expect(count()).toBe(0);
    await waitFor(() => expect(place()).toBe(first));
    await keys.keyboard('{Control>}{Shift>}z{/Shift}{/Control}');
    expect(count()).toBe(1);
    await keys.keyboard('{Control>}z{/Control}{Control>}y{/Control}');
    expect(count()).toBe(1);
    // In the editor the key belongs to what is typed.
    await keys.keyboard('e');
    await keys.type(await screen.findByRole('textbox', { name: 'New lines' }), 'Mine');
    await keys.keyboard('{Control>}z{/Control}');
    await keys.keyboard('{Escape}');
    expect(count()).toBe(1);
  });

  it('are in the list of keys, also those that undo and redo decisions', async () => {
    const { keys } = await openReview('review');
    await keys.keyboard('?');
    const list = await screen.findByRole('dialog');
    const line = within(list).getByText('Undo last decision').parentElement;
    expect(line).toHaveTextContent(/Ctrl\s*Z/);
    expect(within(list).getAllByText('Redo decision')).toHaveLength(2);
  });

  it('begin again at the first undecided place behind the last one', async () => {
    const { keys } = await openReview('review');
    await waitFor(() => expect(place()).not.toBeNull());
    const first = place();
    await keys.keyboard('jjjjjjj');
    await waitFor(() => expect(place()).not.toBe(first));
    await keys.keyboard('a');
    await waitFor(() => expect(place()).toBe(first));
  });
});

it('the editor comes into sight with its buttons', async () => {
  const { keys } = await openReview('review');
  const shown = vi.fn(function (this: Element) {
    return this.className;
  });
  Element.prototype.scrollIntoView = shown;
  await keys.keyboard('jjjje');
  const box = await screen.findByRole('textbox', { name: 'New lines' });
  const seen = shown.mock.contexts.filter((one) => one.contains(box));
  const save = screen.getByRole('button', { name: /^Save and accept/ });
  expect(seen.some((one) => one.matches('.editor') && one.contains(save))).toBe(true);
});
