import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { afterEach, beforeEach, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

const wide = globalThis.matchMedia;

beforeEach(() => {
  globalThis.matchMedia = (media) => Object.assign(wide(media), { matches: true });
});

afterEach(() => {
  globalThis.matchMedia = wide;
});

it('Esc in a narrow window closes the note and stops no answer behind it', async () => {
  const story = chat();
  const host = new FakeHost(story);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('stop');
  await session.showNote(Object.keys(story.notes)[0] ?? '');
  await screen.findByTestId('note-pane');
  const keys = userEvent.setup();
  await keys.keyboard('{Escape}');
  await waitFor(() => expect(screen.queryByTestId('note-pane')).toBeNull());
  expect(host.asked('stop')).toEqual([]);
  // The control: the answer is in front of the user.
  await keys.keyboard('{Escape}');
  await waitFor(() => expect(host.asked('stop')).toEqual(['groceries']));
});
