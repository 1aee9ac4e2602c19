import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { readingTime } from '../../../src/shared/input/dismiss-later';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { search } from '../../fake/stories/search';

/** The window, in which time passes only as the test says. */
async function open(): Promise<Session> {
  const session = new Session(new FakeHost(search()));
  render(App, { session });
  await session.start();
  await screen.findByTestId('composer');
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  return session;
}

async function pass(milliseconds: number): Promise<void> {
  vi.advanceTimersByTime(milliseconds);
  await tick();
}

async function informed(): Promise<{ session: Session; notice: HTMLElement }> {
  const session = await open();
  session.conversationActions.notify(
    () => 'Saved as “Boiler”',
    async () => true,
  );
  await tick();
  return { session, notice: screen.getByTestId('kept-notice') };
}

const shown = () => screen.queryByTestId('kept-notice');

afterEach(() => void vi.useRealTimers());

describe('a notice that only informs', () => {
  it('goes after a while, counted from the last one', async () => {
    const { session } = await informed();
    await pass(readingTime - 1);
    session.conversationActions.notify(() => 'Exported', null);
    await tick();
    await pass(readingTime - 1);
    expect(shown()).toHaveTextContent('Exported');
    await pass(1);
    expect(shown()).toBeNull();
  });

  it('stays while the pointer is over it, and for a while after', async () => {
    const { notice } = await informed();
    await fireEvent.pointerEnter(notice);
    await pass(5 * readingTime);
    await fireEvent.pointerLeave(notice);
    await pass(readingTime - 1);
    expect(shown()).not.toBeNull();
    await pass(1);
    expect(shown()).toBeNull();
  });

  it('stays while the keyboard is in it', async () => {
    const { notice } = await informed();
    const undo = within(notice).getByRole('button', { name: 'Undo' });
    undo.focus();
    await pass(5 * readingTime);
    expect(undo).toHaveFocus();
    undo.blur();
    await pass(readingTime);
    expect(shown()).toBeNull();
  });

  it('goes when an undo found nothing', async () => {
    const session = await open();
    await session.undo.undoLast();
    await tick();
    expect(screen.getByTestId('undo-notice')).toHaveTextContent('Nothing to undo');
    await pass(readingTime);
    expect(screen.queryByTestId('undo-notice')).toBeNull();
  });
});

describe('a notice with the only way back', () => {
  it('stays until it is dismissed', async () => {
    const session = await open();
    const row = session.app.current;
    if (!row) throw new Error('no conversation');
    await session.conversationActions.delete(row);
    await tick();
    await pass(5 * readingTime);
    expect(shown()).toHaveTextContent('Deleted');
  });
});
