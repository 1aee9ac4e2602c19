import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { JobKind } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { changes as story } from '../../fake/stories/changes/changes';
import { sixty } from '../../fake/stories/changes/review';

async function open(host = new FakeHost(story())) {
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

const work = (kind: JobKind, done: number, all: number | null, stopping = false) => [
  { id: 7, kind, done, all, stopping },
];

describe('work that takes long', () => {
  it.each([
    ['undoing', 'Undoing: 312 of 1,240', 'Preparing to undo…'],
    ['redoing', 'Redoing: 312 of 1,240', 'Preparing to redo…'],
    ['exporting', 'Exporting conversations: 312 of 1,240', 'Exporting the conversation…'],
    ['deleting_history', 'Deleting history: 312 of 1,240', 'Compacting the database…'],
  ] as const)('says how far it is: %s', async (kind, words, unknown) => {
    const { host } = await open();
    host.tell({ type: 'jobs_changed', jobs: work(kind, 0, null) });
    const line = await screen.findByTestId('work');
    expect(line).toHaveTextContent(unknown);
    const bar = within(line).getByRole('progressbar', { name: unknown });
    expect(bar).not.toHaveAttribute('value');
    host.tell({ type: 'jobs_changed', jobs: work(kind, 312, 1_240) });
    await waitFor(() => expect(line).toHaveTextContent(words));
    expect(bar).toHaveAttribute('value', '312');
    host.tell({ type: 'jobs_changed', jobs: [] });
    await waitFor(() => expect(screen.queryByTestId('work')).toBeNull());
  });

  it('is not told where it is over at once', async () => {
    const { host } = await open();
    host.tell({ type: 'jobs_changed', jobs: work('undoing', 0, 3) });
    host.tell({ type: 'jobs_changed', jobs: [] });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(screen.queryByTestId('work')).toBeNull();
  });

  it('is stopped once, by key, and says so', async () => {
    const { host, keys } = await open();
    host.tell({ type: 'jobs_changed', jobs: work('undoing', 3, 1_240) });
    const stop = within(await screen.findByTestId('work')).getByRole('button', { name: 'Stop' });
    stop.focus();
    await keys.keyboard('{Enter}');
    expect(host.asked('stopJob')).toEqual([7]);
    host.tell({ type: 'jobs_changed', jobs: work('undoing', 4, 1_240, true) });
    await waitFor(() => expect(screen.getByTestId('work')).toHaveTextContent('Stopping…'));
    expect(stop).toHaveFocus();
    await keys.keyboard('{Enter}');
    expect(host.asked('stopJob')).toEqual([7]);
  });

  it('leaves no file where an export was stopped, and says that', async () => {
    const { host, keys } = await open();
    host.tell({ type: 'jobs_changed', jobs: work('exporting', 3, 1_240) });
    await keys.click(within(await screen.findByTestId('work')).getByRole('button'));
    const notice = await screen.findByTestId('kept-notice');
    expect(notice).toHaveTextContent('Export canceled. No file was written.');
  });

  it('that could not be stopped is a problem', async () => {
    const { host, keys } = await open();
    host.refusals.set('stopJob', { code: 'other', message: 'Nobody listens.' });
    host.tell({ type: 'jobs_changed', jobs: work('undoing', 3, 1_240) });
    await keys.click(within(await screen.findByTestId('work')).getByRole('button'));
    expect(await screen.findByTestId('problem')).toHaveTextContent('Nobody listens.');
  });

  it('is told by the review itself while its changes are made', async () => {
    const { host, session, keys } = await open(new FakeHost(sixty()));
    session.openReview();
    let end = (): void => undefined;
    host.decideReview = () => new Promise((resolve) => (end = resolve));
    const [first] = await screen.findAllByTestId('review-accept');
    if (first) await keys.click(first);
    await keys.click(screen.getByTestId('review-apply'));
    host.tell({ type: 'jobs_changed', jobs: work('applying', 12, 60) });
    expect(await screen.findByText('Applying changes: 12 of 60')).toBeInTheDocument();
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(screen.queryByTestId('work')).toBeNull();
    end();
  });

  it('that was stopped says what was left', async () => {
    const { host, session } = await open();
    const undo = host.undo.bind(host);
    host.undo = async (scope) => ({ ...(await undo(scope)), left: 928 });
    await session.undo.undoLast();
    const notice = await screen.findByTestId('undo-notice');
    expect(notice).toHaveTextContent(/Undid changes to .*\. 928 notes were left unchanged/);
  });
});
