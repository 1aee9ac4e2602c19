/** A model on this computer that reads a long prompt: the wait is told, and its end. */
import { render, screen, waitFor } from '@testing-library/svelte';
import { expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

it('tells what the model does before it answers, until it answers', async () => {
  const host = new FakeHost(chat());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByText('Working…');
  const conversation = session.app.chat?.id ?? '';
  host.tell({ type: 'wait_changed', conversation, wait: { type: 'reading', tokens: 4251 } });
  expect(await screen.findAllByText('Reading about 4,300 tokens…')).not.toEqual([]);
  host.tell({ type: 'wait_changed', conversation, wait: { type: 'loading' } });
  expect(await screen.findAllByText('The server is loading the model…')).not.toEqual([]);
  host.tell({ type: 'wait_changed', conversation, wait: null });
  await waitFor(() => expect(screen.getByText('Working…')).toBeVisible());
  host.tell({ type: 'wait_changed', conversation: 'another', wait: { type: 'loading' } });
  expect(screen.getByText('Working…')).toBeVisible();
});

it('tells it again when the conversation was left and is opened again', async () => {
  const host = new FakeHost(chat());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const conversation = session.app.chat?.id ?? '';
  host.tell({ type: 'wait_changed', conversation, wait: { type: 'loading' } });
  session.openNew();
  await session.open(conversation);
  expect(session.app.chat?.wait).toEqual({ type: 'loading' });
  await waitFor(() => expect(screen.getByTestId('stop')).toBeVisible());
  expect(screen.queryByText('Working…')).toBeNull();
  // It ended while another conversation was open.
  session.openNew();
  host.tell({ type: 'wait_changed', conversation, wait: null });
  await session.open(conversation);
  await waitFor(() => expect(screen.getByText('Working…')).toBeVisible());
});
