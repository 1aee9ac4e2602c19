import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { PrivateNote } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { nothingKnown } from '../../fake/queries';
import { search } from '../../fake/stories/search';

const heating = 'House/Heating.md';
const offer = 'House/Offers, heating 2026.md';

/** The heating note is open beside the chat. */
async function open(rules: Record<string, PrivateNote> = {}) {
  const story = search();
  const queries = { ...(story.queries ?? nothingKnown), private: rules };
  const host = new FakeHost({ ...story, queries });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await session.showNote(heating);
  return { host, session, keys: userEvent.setup() };
}

const chip = () => screen.findByTestId('open-note-chip');

/** The open notes that were sent, in order. */
function sent(host: FakeHost): unknown[] {
  return host.asked('sendMessage').map((request) => {
    return typeof request === 'object' && request !== null && 'openNote' in request
      ? request.openNote
      : undefined;
  });
}

describe('the open note', () => {
  it('is a chip at the composer and is sent', async () => {
    const { host, keys } = await open();
    expect(await chip()).toHaveTextContent('Heating open note');
    await keys.type(screen.getByTestId('composer'), 'What is wrong?{Enter}');
    await waitFor(() => expect(sent(host)).toEqual([heating]));
  });

  it('is excluded from one message when its chip is removed', async () => {
    const { host, session, keys } = await open();
    await keys.click(within(await chip()).getByRole('button', { name: 'Remove Heating' }));
    expect(screen.queryByTestId('open-note-chip')).toBeNull();
    expect(screen.getByTestId('composer')).toHaveFocus();
    expect(screen.getByTestId('note-pane'), 'the note stays open').toBeVisible();
    await keys.keyboard('What is wrong?{Enter}');
    await waitFor(() => expect(sent(host)).toEqual([null]));
    await chip();
    await keys.keyboard('And now?{Enter}');
    await waitFor(() => expect(sent(host)).toEqual([null, heating]));
    session.note.sent.exclude();
    await session.showNote(offer);
    expect(await chip()).toHaveTextContent('Offers, heating 2026 open note');
  });

  it('says that the selected text is sent with it', async () => {
    const { session } = await open();
    await session.note.select(heating, '1.2 bar', null);
    await waitFor(async () =>
      expect(await chip()).toHaveTextContent('open note, with the selection'),
    );
    await session.note.select(heating, '', null);
    await waitFor(async () => expect(await chip()).toHaveTextContent(/open note$/));
  });

  it('is not sent with the selection of a note that was open before', async () => {
    const { host, session } = await open();
    const select = async () => {
      const region = await screen.findByRole('region', { name: /Heating|Offers/ });
      document.getSelection()?.selectAllChildren(await within(region).findByText(/vessel.*l/));
      await fireEvent.pointerUp(document);
    };
    await select();
    expect(host.asked('selectInNote')).toMatchObject([{ path: heating }]);
    await session.showNote(offer);
    // It was on its way when the other note was opened.
    await session.note.select(heating, '1.2 bar', null);
    expect(await chip()).toHaveTextContent(/open note$/);
    // The control: text of the open note is a selection of it.
    await select();
    await waitFor(async () =>
      expect(await chip()).toHaveTextContent('open note, with the selection'),
    );
    expect(host.asked('selectInNote').at(-1)).toMatchObject({ path: offer });
    await session.note.select(heating, '', null);
    expect(await chip()).toHaveTextContent('open note, with the selection');
  });

  it('that is private says so and is not sent', async () => {
    for (const [rule, words] of [
      ['never', 'private: not sent'],
      ['local_only', 'private: not sent to this model'],
    ] as const) {
      const { host, session, keys } = await open({ [heating]: rule });
      const mark = await screen.findByText(words);
      expect(within(mark.parentElement ?? document.body).queryByRole('button')).toBeNull();
      await keys.type(screen.getByTestId('composer'), 'What is wrong?{Enter}');
      await waitFor(() => expect(sent(host)).toEqual([null]));
      await session.note.close();
      document.body.replaceChildren();
    }
  });

  it('is checked again when the rules or the model change', async () => {
    const rules: Record<string, PrivateNote> = {};
    const { host, session } = await open(rules);
    await chip();
    rules[heating] = 'never';
    host.tell({ type: 'settings_changed', settings: session.app.saved, trouble: null });
    await waitFor(async () => expect(await chip()).toHaveTextContent('private: not sent'));
  });

  it('is no chip where no model answers, and is not kept for one that answers later', async () => {
    const { host, session, keys } = await open();
    await chip();
    const provider = { ...session.app.provider, hasModel: false };
    host.tell({ type: 'provider_changed', provider });
    await waitFor(() => expect(screen.queryByTestId('open-note-chip')).toBeNull());
    await keys.type(screen.getByTestId('composer'), 'help{Enter}');
    await waitFor(() => expect(sent(host)).toEqual([null]));
  });
});
