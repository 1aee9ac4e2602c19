import { fireEvent, render, screen, within } from '@testing-library/svelte';
import { describe, expect, it, vi } from 'vitest';

import Composer from '../../../src/features/composer/Composer.svelte';
import { AppState } from '../../../src/state/app.svelte';
import { MentionSearch } from '../../../src/state/composer/mention-search.svelte';
import { FakeHost } from '../../fake/host';
import { search } from '../../fake/stories/search';

const host = new FakeHost(search());

function show(change: Record<string, unknown> = {}) {
  const props = {
    conversation: 'heating',
    draft: 'Hello',
    mentions: [],
    vault: 'notebook',
    ruleOf: () => null,
    mentioning: new MentionSearch(host, new AppState()),
    onmention: vi.fn(),
    ondropmention: vi.fn(),
    openNote: null,
    onexclude: vi.fn(),
    onattach: vi.fn(),
    working: false,
    wait: null,
    asked: false,
    notAnAnswer: false,
    chosen: null,
    hasModel: true,
    answers: 'Haiku',
    mode: 'review' as const,
    ondraft: vi.fn(),
    onsend: vi.fn(),
    onstop: vi.fn(),
    oneditlast: vi.fn(),
    onnotananswer: vi.fn(),
    onmode: vi.fn(),
    model: 'claude-haiku-4-5',
    models: [],
    onmodel: vi.fn(),
    onconnect: vi.fn(),
    ...change,
  };
  render(Composer, props);
  return { ...props, box: screen.getByTestId('composer') };
}

describe('Enter', () => {
  it('sends', async () => {
    const { box, onsend } = show();
    await fireEvent.keyDown(box, { key: 'Enter' });
    expect(onsend).toHaveBeenCalledOnce();
  });

  it('breaks the line with Shift', async () => {
    const { box, onsend } = show();
    expect(await fireEvent.keyDown(box, { key: 'Enter', shiftKey: true })).toBe(true);
    expect(onsend).not.toHaveBeenCalled();
  });

  it('belongs to the input method while it composes', async () => {
    const { box, onsend } = show();
    await fireEvent.keyDown(box, { key: 'Enter', isComposing: true });
    await fireEvent.keyDown(box, { key: 'Enter', keyCode: 229 });
    expect(onsend).not.toHaveBeenCalled();
  });

  it('does nothing without a text', async () => {
    const { box, onsend } = show({ draft: '  \n' });
    await fireEvent.keyDown(box, { key: 'Enter' });
    expect(onsend).not.toHaveBeenCalled();
    expect(screen.getByTestId('send')).toBeDisabled();
  });
});

describe('the up arrow', () => {
  it('takes the last message up again where nothing is written', async () => {
    const { box, oneditlast } = show({ draft: '' });
    await fireEvent.keyDown(box, { key: 'ArrowUp' });
    expect(oneditlast).toHaveBeenCalledOnce();
  });

  it('moves in what is written, and belongs to an input method', async () => {
    const { box, oneditlast } = show({ draft: ' ' });
    expect(await fireEvent.keyDown(box, { key: 'ArrowUp' })).toBe(true);
    await fireEvent.keyDown(box, { key: 'ArrowUp', isComposing: true });
    await fireEvent.keyDown(box, { key: 'ArrowUp', shiftKey: true });
    expect(oneditlast).not.toHaveBeenCalled();
  });
});

describe('a key in the draft', () => {
  it.each([
    ['My key is sk-CANARY-7f3a', true],
    ['(AIzaSyA1234567890)', true],
    ['task-12345678, sk-learn and sk-learn-without-digits', false],
    ['Hello', false],
  ])('%s', (draft, warns) => {
    show({ draft });
    const warning = screen.getByTestId('key-warning').textContent;
    expect(warning.includes('looks like an API key')).toBe(warns);
  });
});

describe('what it says', () => {
  it.each([
    [{}, 'Ask about your notes or describe a change'],
    [{ working: true }, 'Queue another message'],
    [{ asked: true }, 'Your answer'],
    [{ asked: true, notAnAnswer: true }, 'Ask about your notes or describe a change'],
    [{ hasModel: false }, 'Search your notes or type a command'],
  ])('is what Enter will do: %o', (state, words) => {
    expect(show({ draft: '', ...state }).box).toHaveAttribute('placeholder', words);
  });

  it('offers to stop only while something runs, and keeps the focus', async () => {
    const { onstop, box } = show({ working: true });
    await fireEvent.click(screen.getByTestId('stop'));
    expect(onstop).toHaveBeenCalledOnce();
    expect(box).toHaveFocus();
  });

  it('offers no stop when nothing runs', () => {
    show();
    expect(screen.queryByTestId('stop')).toBeNull();
  });

  it('lets an answer become something new', async () => {
    const { onnotananswer } = show({ asked: true });
    expect(screen.getByText('Answering the question')).toBeVisible();
    await fireEvent.click(screen.getByText('Ask something else'));
    expect(onnotananswer).toHaveBeenCalledExactlyOnceWith(true);
  });
});

describe('the mode menu', () => {
  it('is worked with the keyboard and gives the focus back', async () => {
    const { onmode } = show();
    const button = screen.getByRole('button', { name: 'Review · Haiku' });
    await fireEvent.click(button);
    const [review, auto] = screen.getAllByRole('menuitemradio');
    expect(review).toHaveFocus();
    expect(review).toHaveAttribute('aria-checked', 'true');
    await fireEvent.keyDown(review ?? button, { key: 'ArrowDown' });
    expect(auto).toHaveFocus();
    await fireEvent.click(auto ?? button);
    expect(onmode).toHaveBeenCalledExactlyOnceWith('auto');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(button).toHaveFocus();
  });

  const model = (id: string) => ({ id, window: 200_000, maxOutput: null, price: null });

  it('offers models, of which the one that answers is among them, and the way to all others', async () => {
    const models = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(model);
    const { onmodel, onconnect } = show({ models });
    const open = async () => {
      await fireEvent.click(screen.getByRole('button', { name: 'Review · Haiku' }));
      return screen.getByRole('group', { name: 'Model' });
    };
    const names = within(await open()).getAllByRole('menuitemradio');
    expect(names.map((item) => item.textContent.trim().split(/\s/)[0])).toEqual(
      ['claude-haiku-4-5', ...'abcdef'].map(String),
    );
    expect(names[0]).toHaveAttribute('aria-checked', 'true');
    expect(names[2]).toHaveTextContent('200,000');
    await fireEvent.click(names[0] ?? document.body);
    expect(onmodel).not.toHaveBeenCalled();
    await fireEvent.click(within(await open()).getByText('b'));
    expect(onmodel).toHaveBeenCalledExactlyOnceWith('b');
    const last = within(await open()).getByRole('menuitem');
    expect(last).toHaveTextContent('Other models and providers…');
    await fireEvent.keyDown(screen.getByRole('menu'), { key: 'End' });
    expect(last).toHaveFocus();
    await fireEvent.click(last);
    expect(onconnect).toHaveBeenCalledOnce();
  });

  it('leads to where a model is connected while none is', async () => {
    const { onconnect } = show({ hasModel: false, answers: 'Commands', models: [model('a')] });
    await fireEvent.click(screen.getByRole('button', { name: 'Review · Commands' }));
    const group = screen.getByRole('group', { name: 'Model' });
    expect(within(group).queryAllByRole('menuitemradio')).toEqual([]);
    await fireEvent.click(within(group).getByRole('menuitem', { name: 'Connect a model' }));
    expect(onconnect).toHaveBeenCalledOnce();
  });

  it('is closed by Esc, which then stops nothing', async () => {
    const { onmode } = show({ working: true });
    const heard = vi.fn();
    window.addEventListener('keydown', heard);
    await fireEvent.click(screen.getByRole('button', { name: 'Review · Haiku' }));
    await fireEvent.keyDown(screen.getByRole('menu'), { key: 'Escape' });
    window.removeEventListener('keydown', heard);
    expect(screen.queryByRole('menu')).toBeNull();
    expect(heard).not.toHaveBeenCalled();
    expect(onmode).not.toHaveBeenCalled();
  });
});
