import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { keepFocus } from '../../../src/shared/input/keep-focus';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const host = new FakeHost(told);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  return { host, session, keys: userEvent.setup() };
}

const inComposer = () => waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());

describe('the keyboard', () => {
  it('goes to the next conversation when the one in hand goes', async () => {
    const { host } = await open('chat');
    const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
    const at = rows.findIndex(({ dataset }) => dataset['row'] === 'boiler');
    const next = rows[at + 1];
    rows[at]?.focus();
    host.tell({ type: 'conversation_gone', conversation: 'boiler' });
    await waitFor(() => expect(next).toHaveFocus());
  });

  it('goes back to where one writes when a question is answered elsewhere', async () => {
    const { host, session } = await open('question');
    const conversation = session.app.chat?.id ?? '';
    screen.getAllByTestId('question-option')[0]?.focus();
    expect(screen.getByTestId('composer')).not.toHaveFocus();
    host.tell({ type: 'question_changed', conversation, question: null });
    await inComposer();
  });

  it('goes back to where one writes when the changes were decided elsewhere', async () => {
    const { host, session } = await open('review');
    const conversation = session.app.chat?.id ?? '';
    screen.getByTestId('review-open').focus();
    host.tell({ type: 'review_changed', conversation, review: null });
    await inComposer();
  });

  it('goes back to where one writes when a notice or a problem is dismissed', async () => {
    const { host, keys } = await open('chat');
    host.tell({ type: 'problem', error: { code: 'other', message: 'The disk is full.' } });
    (await screen.findByRole('button', { name: 'Dismiss' })).focus();
    await keys.keyboard('{Enter}');
    await inComposer();
  });

  it('goes to where one writes when a conversation is begun, from a new one too', async () => {
    const { keys } = await open('chat');
    const button = screen.getByTestId('new-conversation');
    for (const round of ['from another one', 'from a new one']) {
      await keys.click(button);
      expect(screen.queryByTestId('chat-log'), round).toBeNull();
      await inComposer();
    }
    button.focus();
    await keys.keyboard('{Control>}n{/Control}');
    await inComposer();
  });

  it('is somewhere after another branch is shown', async () => {
    const { keys } = await open('regenerated');
    screen.getByRole('button', { name: 'Previous version' }).focus();
    await keys.keyboard('{Enter}');
    await inComposer();
  });

  it('is back at what opened a dialog that is closed', async () => {
    const { keys } = await open('search');
    const opener = screen.getByRole('button', { name: 'Save as note' });
    opener.focus();
    await keys.keyboard('{Control>}k{/Control}');
    const dialog = await screen.findByRole('dialog');
    await waitFor(() => expect(dialog.contains(document.activeElement)).toBe(true));
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(opener).toHaveFocus());
  });

  it('is on no element where nobody keeps it', async () => {
    document.body.innerHTML = '<ul><li><button>one</button></li><li><button>two</button></li></ul>';
    const [one, two] = document.querySelectorAll('button');
    one?.focus();
    one?.parentElement?.remove();
    await Promise.resolve();
    expect(document.body).toHaveFocus();

    const stop = keepFocus(() => undefined)(document);
    document.querySelector('ul')?.prepend(Object.assign(document.createElement('li')));
    two?.focus();
    document
      .querySelector('ul')
      ?.insertAdjacentHTML('beforeend', '<li><button>three</button></li>');
    two?.parentElement?.remove();
    await waitFor(() => expect(document.activeElement).toHaveTextContent('three'));
    stop();
    document.body.innerHTML = '';
  });
});
