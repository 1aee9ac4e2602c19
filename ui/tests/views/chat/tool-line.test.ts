import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import { formatTime } from '../../../src/shared/i18n/format-date';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

it('a line for several calls opens to each with its arguments, its result and its time', async () => {
  const host = new FakeHost(chat());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const keys = userEvent.setup();
  await keys.click(await screen.findByRole('button', { name: /^Read 4 notes/ }));
  const log = within(screen.getByRole('log'));
  expect(log.queryAllByRole('time')).toEqual([]);
  await keys.click(log.getByRole('button', { name: 'Tool call details' }));
  const calls = session.app.chat?.items.filter((item) => item.type === 'tool').slice(0, 4) ?? [];
  const times = log.getAllByRole('time');
  expect(times.map((time) => time.getAttribute('datetime'))).toEqual(
    calls.map(({ at }) => new Date(at).toISOString()),
  );
  expect(times.map((time) => time.title)).toEqual(calls.map(({ at }) => formatTime(at)));
  expect(log.getAllByText(/"path": "Pantry.md"/)).toHaveLength(1);
});
