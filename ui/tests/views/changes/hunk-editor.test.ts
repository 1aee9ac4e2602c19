import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { AppEvent, NoteDiff, Review } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { row, userMessage, view } from '../../fake/stories/base';
import { line, noteDiff } from '../../fake/stories/changes/diff';
import { review as story } from '../../fake/stories/changes/review';

const plan = 'Projects/Reading room, opening plan.md';
const other = row('passport', 'Passport renewal');

/** The review with the plan alone, in which one hunk changes whole lines. */
async function open() {
  const told = story();
  const [first] = told.views;
  const pending = first?.review;
  const note = pending?.notes.find(({ path }) => path === plan);
  if (!first || !pending || !note) throw new Error('nothing is pending');
  const review = { ...pending, notes: [note] };
  const another = { ...review, id: 'review-2', conversation: other.id };
  const views = [
    { ...first, review },
    view(other, [userMessage('u9', 'And the passport?')], { review: another }),
  ];
  const host = new FakeHost({ ...told, views });
  const session = new Session(host);
  const { unmount } = render(App, { session });
  await session.start();
  const keys = userEvent.setup();
  await keys.click(await screen.findByTestId('review-open'));
  await screen.findByTestId('review-apply');
  return { host, session, keys, review, note, unmount };
}

const editor = () => screen.getByRole('textbox', { name: 'New lines' });
const noEditor = () => expect(screen.queryByRole('textbox', { name: 'New lines' })).toBeNull();

/** Edits the only hunk. */
async function write(keys: ReturnType<typeof userEvent.setup>, text: string): Promise<void> {
  await keys.keyboard('e');
  await keys.clear(await screen.findByRole('textbox', { name: 'New lines' }));
  await keys.keyboard(text);
}

function changed(review: Review, notes: readonly NoteDiff[]): AppEvent {
  const { conversation } = review;
  return { type: 'review_changed', conversation, review: { ...review, notes: [...notes] } };
}

const more = {
  ...{ heading: 'Still to do', properties: false, oldStart: 90, newStart: 90 },
  lines: [line('added', 'From the model')],
};

describe('lines that are being written', () => {
  it('go on when another place of the note comes, and no key of them decides', async () => {
    const { host, session, keys, review, note } = await open();
    await write(keys, 'A jar of ');
    const hunks = [...note.hunks, more];
    host.tell(changed(review, [{ ...note, seen: 'later', hunks }]));
    await screen.findByText('From the model');
    await keys.keyboard('jars');
    expect(editor()).toHaveValue('A jar of jars');
    expect(session.app.chat?.reviewDecisions.count).toBe(0);
    await keys.keyboard('{Control>}{Enter}{/Control}');
    expect(session.app.chat?.reviewDecisions.hunk(plan, 0)).toEqual({ edit: 'A jar of jars' });
    // Outside of an editor the same keys decide.
    await keys.keyboard('r');
    expect(session.app.chat?.reviewDecisions.hunk(plan, 0)).toBe('reject');
  });

  it('go on in their note when another note gets the same change', async () => {
    const { host, keys, review, note } = await open();
    const twin = (at: number) => noteDiff(`Twin ${at}.md`, { hunks: note.hunks });
    await write(keys, 'Mine');
    host.tell(changed(review, [note, twin(1), twin(2)]));
    const same = await screen.findByRole('region', { name: 'Same lines' });
    expect(same).toHaveTextContent('2 places in 2 notes');
    await keys.keyboard(' alone');
    expect(editor()).toHaveValue('Mine alone');
    await keys.keyboard('{Escape}');
    noEditor();
    // A place that nobody edits is decided with the others.
    await waitFor(() => expect(same).toHaveTextContent('3 places in 3 notes'));
    expect(same).toHaveFocus();
  });

  it('go on in the nearest place when their own is replaced, and end with their note', async () => {
    const { host, keys, review, note } = await open();
    await write(keys, 'Mine');
    const [hunk] = note.hunks;
    if (!hunk) throw new Error('no place');
    const replaced = { ...hunk, lines: [line('added', 'Again from the model')] };
    host.tell(changed(review, [{ ...note, seen: 'later', hunks: [more, replaced] }]));
    await screen.findByText('Again from the model');
    const place = screen.getByRole('group', { name: 'Opening on 9 January' }).parentElement;
    expect(place && within(place).getByRole('textbox', { name: 'New lines' })).toHaveValue('Mine');
    await waitFor(() => expect(editor()).toHaveFocus());
    host.tell(changed(review, [noteDiff('Elsewhere.md', { hunks: [more] })]));
    await waitFor(noEditor);
    expect(localStorage).toHaveLength(0);
  });

  it('are there again after a visit to another conversation, and after a restart', async () => {
    const { host, session, keys, unmount } = await open();
    await write(keys, 'Mine');
    host.tell({ type: 'called', conversation: other.id });
    await screen.findByText('And the passport?');
    noEditor();
    session.openReview();
    await screen.findByTestId('review-apply');
    noEditor();
    await session.open('harbour');
    session.openReview();
    await waitFor(() => expect(editor()).toHaveValue('Mine'));
    expect(editor()).toHaveFocus();
    unmount();
    const restarted = new Session(host);
    render(App, { session: restarted });
    await restarted.start();
    restarted.openReview();
    await waitFor(() => expect(editor()).toHaveValue('Mine'));
    await keys.keyboard('{Escape}');
    noEditor();
    expect(localStorage).toHaveLength(0);
  });

  it('are not applied around: their place waits until the editor is closed', async () => {
    const { host, keys } = await open();
    await keys.keyboard('a');
    await write(keys, 'Mine');
    expect(screen.getByTestId('review-apply')).toBeDisabled();
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await keys.click(screen.getByTestId('review-apply'));
    await waitFor(() => expect(host.decided()).toHaveLength(1));
    const hunks = [{ type: 'edit', text: 'Mine' }];
    expect(host.decided()[0]?.notes).toMatchObject([{ path: plan, decision: { hunks } }]);
  });

  it('are kept by a key that is held, which applies nothing', async () => {
    const { host, session, keys } = await open();
    await write(keys, 'Mine');
    const press = { key: 'Enter', ctrlKey: true };
    await fireEvent.keyDown(editor(), { ...press, repeat: true });
    expect(editor()).toHaveValue('Mine');
    await fireEvent.keyDown(editor(), press);
    await waitFor(noEditor);
    await fireEvent.keyDown(document.body, { ...press, repeat: true });
    expect(host.asked('decideReview')).toEqual([]);
    expect(session.app.chat?.reviewDecisions.count).toBe(1);
    // The control: pressed once more it applies them.
    await fireEvent.keyDown(document.body, press);
    await waitFor(() => expect(host.asked('decideReview')).toHaveLength(1));
  });

  it('stay in sight when a tool shows the list of changes', async () => {
    const { host, session, keys } = await open();
    const show = (call: string): AppEvent => ({
      type: 'item_changed',
      conversation: 'harbour',
      item: {
        ...{ type: 'tool', at: 0, turn: 't9', call, tool: 'show_changes', arguments: '{}' },
        ...{ output: 'Shown', isError: false },
        reactions: [{ type: 'show_changes', conversation: null }],
      },
    });
    await write(keys, 'Mine');
    host.tell(show('c8'));
    expect(session.place.name).toBe('review');
    await keys.keyboard(' too');
    expect(editor()).toHaveValue('Mine too');
    session.backToChat();
    host.tell(show('c9'));
    expect(session.place.name).toBe('changes');
  });

  it('stay in sight when the changes of another conversation are applied', async () => {
    const { host, session, keys } = await open();
    let apply = (): void => undefined;
    const decideReview = host.decideReview.bind(host);
    host.decideReview = async (request) => {
      await new Promise<void>((resolve) => (apply = resolve));
      await decideReview(request);
    };
    const applied = async (meanwhile: () => Promise<void>): Promise<void> => {
      session.app.chat?.reviewDecisions.acceptAll();
      const decided = session.decide();
      await meanwhile();
      apply();
      await decided;
    };
    await applied(async () => {
      await session.open(other.id);
      session.openReview();
      await screen.findByTestId('review-apply');
      await write(keys, 'Mine');
    });
    await keys.keyboard(' too');
    expect(session.place.name).toBe('review');
    expect(editor()).toHaveValue('Mine too');
    await keys.keyboard('{Escape}');
    // Its own apply returns to the conversation.
    await applied(async () => undefined);
    expect(session.place.name).toBe('chat');
  });
});

describe('the keys of the editor', () => {
  const keep = '{Control>}{Enter}{/Control}';

  /** The review with a second note that is accepted: it can be applied while the first one is being edited. */
  async function openDecided() {
    const opened = await open();
    const { host, session, review, note } = opened;
    host.tell(changed(review, [note, noteDiff('Elsewhere.md', { hunks: [more] })]));
    await screen.findByText('From the model');
    session.app.chat?.reviewDecisions.decide('Elsewhere.md', 'accept');
    await waitFor(() => expect(screen.getByTestId('review-apply')).toBeEnabled());
    return opened;
  }

  it('keep the lines, and do not apply the review', async () => {
    const { host, session, keys } = await openDecided();
    await write(keys, 'Mine');
    expect(screen.getByTestId('review-apply')).toBeEnabled();
    await keys.keyboard(keep);
    await waitFor(noEditor);
    expect(session.app.chat?.reviewDecisions.hunk(plan, 0)).toEqual({ edit: 'Mine' });
    expect(host.asked('decideReview')).toEqual([]);
    expect(session.place.name).toBe('review');
    // The control: outside of the editor the same keys apply it.
    await keys.keyboard(keep);
    await waitFor(() => expect(host.asked('decideReview')).toHaveLength(1));
  });

  it('leave the editor, and not the review', async () => {
    const { session, keys } = await openDecided();
    await write(keys, 'Mine');
    await keys.keyboard('{Escape}');
    await waitFor(noEditor);
    expect(session.app.chat?.reviewDecisions.hunk(plan, 0)).toBeNull();
    expect(session.place.name).toBe('review');
    // The control: outside of the editor the same key leaves it.
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(session.place.name).toBe('chat'));
  });
});
