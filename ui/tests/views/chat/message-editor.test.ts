import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { row, userMessage, view } from '../../fake/stories/base';
import { queue, regenerated } from '../../fake/stories/chat/regenerate';
import type { Story } from '../../fake/story';

const original = 'Then plan Borlotti again, and something against blackfly.';
const refusal = { code: 'busy', message: 'An answer is being written.' };

async function open(story: Story) {
  const host = new FakeHost(story);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('chat-log');
  return { host, session, keys: userEvent.setup() };
}

const editor = () => screen.getByRole('textbox', { name: 'Your message' });
const noEditor = () => expect(screen.queryByRole('textbox', { name: 'Your message' })).toBeNull();

/** Edits the last message. */
async function edit(keys: ReturnType<typeof userEvent.setup>, text: string): Promise<void> {
  await keys.click(screen.getByTestId('composer'));
  await keys.keyboard('{ArrowUp}');
  await keys.clear(await screen.findByRole('textbox', { name: 'Your message' }));
  await keys.keyboard(text);
}

describe('an edited message', () => {
  it('stays in its editor when it is refused, and goes once it is taken', async () => {
    const { host, session, keys } = await open(regenerated());
    await edit(keys, 'Plan peas');
    host.refusals.set('regenerate', refusal);
    await keys.keyboard('{Enter}');
    await waitFor(() => expect(session.app.problems).toMatchObject([{ error: refusal }]));
    expect(editor()).toHaveValue('Plan peas');
    expect(editor()).toHaveFocus();
    await keys.keyboard(' again{Enter}');
    await waitFor(noEditor);
    expect(host.asked('regenerate')).toEqual([
      { message: 'u2', text: 'Plan peas', old: null },
      { message: 'u2', text: 'Plan peas again', old: null },
    ]);
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
    expect(session.turnActions.editedText('u2')).toBeNull();
  });

  it('stays in its editor when it is refused while it is queued', async () => {
    const { session, keys, host } = await open(queue());
    await edit(keys, 'Many thanks');
    host.refusals.set('editQueued', refusal);
    await keys.keyboard('{Enter}');
    await waitFor(() => expect(session.app.problems).toMatchObject([{ error: refusal }]));
    expect(editor()).toHaveValue('Many thanks');
    await keys.keyboard('{Enter}');
    await screen.findByText('Many thanks', { selector: '.me' });
    noEditor();
  });

  it('is sent once, and does not change while it is on its way', async () => {
    const { host, keys } = await open(regenerated());
    let arrive = (): void => undefined;
    const regenerate = host.regenerate.bind(host);
    host.regenerate = async (request) => {
      await new Promise<void>((resolve) => (arrive = resolve));
      return await regenerate(request);
    };
    await edit(keys, 'Plan peas');
    await keys.keyboard('{Enter}{Enter} or{Escape}');
    expect(editor()).toHaveValue('Plan peas');
    arrive();
    await waitFor(noEditor);
    expect(host.asked('regenerate')).toHaveLength(1);
  });

  it('is there again after a visit to the settings and to another conversation', async () => {
    const story = regenerated();
    const { session, keys } = await open({
      ...story,
      views: [...story.views, view(row('books', 'Books lent'), [userMessage('u9', 'Who has it?')])],
    });
    await edit(keys, 'Plan peas');
    session.openSettings();
    await screen.findByTestId('settings');
    session.backToChat();
    await waitFor(() => expect(editor()).toHaveValue('Plan peas'));
    await session.open('books');
    await screen.findByText('Who has it?');
    noEditor();
    await session.open('beans');
    await waitFor(() => expect(editor()).toHaveValue('Plan peas'));
    editor().focus();
    await keys.keyboard('{Escape}');
    await waitFor(noEditor);
    // A text that was discarded is gone.
    await keys.keyboard('{ArrowUp}');
    await waitFor(() => expect(editor()).toHaveValue(original));
  });

  it('waits while the user is asked about the changes of the old answer', async () => {
    const { host, keys } = await open({ ...regenerated(), old: { changed: 2, waiting: 0 } });
    await edit(keys, 'Plan peas');
    await keys.keyboard('{Enter}');
    const card = within(await screen.findByTestId('old-changes'));
    expect(card.queryByText(/earlier pending changes/)).toBeNull();
    expect(card.queryByText(/related changes of an earlier answer/)).toBeNull();
    await keys.click(card.getByRole('button', { name: 'Cancel' }));
    expect(editor()).toHaveValue('Plan peas');
    await keys.click(editor());
    await keys.keyboard('{Enter}');
    await screen.findByTestId('old-changes');
    await keys.click(editor());
    await keys.keyboard(' again');
    await keys.click(screen.getByRole('button', { name: 'Keep changes and regenerate' }));
    await waitFor(noEditor);
    const told = { message: 'u2', text: 'Plan peas again', old: 'keep' };
    expect(host.asked('regenerate').at(-1)).toEqual(told);
  });

  it('takes the question about the old answer with it when it is discarded', async () => {
    const { keys } = await open({
      ...regenerated(),
      old: { changed: 2, waiting: 0, earlier: true },
    });
    await edit(keys, 'Plan peas');
    await keys.keyboard('{Enter}');
    const card = within(await screen.findByTestId('old-changes'));
    expect(card.getByText(/related changes of an earlier answer are undone/)).toBeVisible();
    await keys.click(editor());
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByTestId('old-changes')).toBeNull());
  });
});
