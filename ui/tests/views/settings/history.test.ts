import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { formatSize } from '../../../src/shared/i18n/format-size';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { changes as story } from '../../fake/stories/changes/changes';

async function openSettings() {
  const host = new FakeHost(story());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  session.openSettings('history');
  const section = await screen.findByRole('region', { name: 'History' });
  const remove = within(section).getByRole('button', { name: 'Delete history…' });
  await waitFor(() => expect(remove).toHaveAttribute('aria-disabled', 'false'));
  return { host, session, section, remove, keys: userEvent.setup() };
}

describe('the history', () => {
  it('shows how much is kept and since when', async () => {
    const { section } = await openSettings();
    expect(within(section).getByTestId('history-kept')).toHaveTextContent(/MB, since .* 20\d\d/);
  });

  it('is deleted only after a warning of what is lost, and reports what was deleted', async () => {
    const { host, section, remove, keys } = await openSettings();
    await keys.selectOptions(within(section).getByLabelText('Delete'), 'Everything');
    await keys.click(remove);
    const dialog = screen.getByRole('dialog', { name: 'Delete all history?' });
    expect(dialog).toHaveTextContent(/\d+ changes can no longer be undone/);
    expect(dialog).toHaveTextContent('Your notes and conversations aren’t affected');
    // The first button has the keyboard.
    expect(within(dialog).getAllByRole('button')[0]).toHaveTextContent('Cancel');
    await keys.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(host.asked('deleteHistory')).toEqual([]);
    expect(remove).toHaveFocus();

    await keys.keyboard('{Enter}');
    await keys.click(screen.getByRole('button', { name: 'Delete permanently' }));
    expect(host.asked('deleteHistory')).toEqual(['any']);
    const news = within(section).getByTestId('history-news');
    await waitFor(() =>
      expect(news).toHaveTextContent(/^Deleted the history of \d+ changes \([\d.]+ MB\)$/),
    );
    expect(within(section).getByTestId('history-kept')).toHaveTextContent('No history yet');
    expect(remove).toHaveFocus();
  });

  it('is deleted by the chosen age, with the text for it', async () => {
    const { host, section, remove, keys } = await openSettings();
    await keys.click(remove);
    await screen.findByRole('dialog', { name: 'Delete history older than 90 days?' });
    await keys.click(screen.getByRole('button', { name: 'Cancel' }));
    await keys.selectOptions(within(section).getByLabelText('Delete'), 'Older than 30 days');
    await keys.click(remove);
    await screen.findByRole('dialog', { name: 'Delete history older than 30 days?' });
    await keys.click(screen.getByRole('button', { name: 'Delete permanently' }));
    expect(host.asked('deleteHistory')).toEqual(['thirty_days']);
  });

  it('that could not be deleted shows a problem, and can be deleted again', async () => {
    const { host, remove, keys } = await openSettings();
    const refusal = { code: 'other', message: 'The disk is full.' };
    host.refusals.set('deleteHistory', refusal);
    await keys.click(remove);
    await keys.click(screen.getByRole('button', { name: 'Delete permanently' }));
    expect(await screen.findByTestId('problem')).toHaveTextContent('The disk is full.');
    await waitFor(() => expect(remove).toHaveAttribute('aria-disabled', 'false'));
  });

  it('leaves changes in the list that say they are too old, without a way back', async () => {
    const { host, session, keys } = await openSettings();
    session.openChanges();
    const rows = await screen.findAllByTestId('change');
    const buttons = screen.getAllByTestId('change-undo').length;
    expect(buttons).toBe(rows.length);
    await session.history.delete('any');
    await waitFor(() => expect(screen.queryAllByTestId('change-undo')).toEqual([]));
    const [first] = await screen.findAllByTestId('change');
    if (!first) throw new Error('no change is listed');
    expect(first).toHaveTextContent('too old to undo');
    await keys.click(within(first).getByRole('button', { expanded: false }));
    expect(within(first).queryByRole('button', { name: /Undo/ })).toBeNull();
    expect(host.asked('appliedHunks')).toEqual([]);
    expect(screen.getByText(/undone, too old to redo/)).toBeVisible();
  });
});

describe('a size', () => {
  it.each([
    [0, '0 byte'],
    [999, '999 byte'],
    [1_500, '1.5 kB'],
    [12_340_000, '12.3 MB'],
    [2_000_000_000, '2 GB'],
    [5e15, '5,000,000 GB'],
  ])('of %d bytes is written as %s', (bytes, words) => {
    expect(formatSize(bytes)).toBe(words);
  });
});
