import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { question } from '../../fake/stories/chat/question';
import type { Story } from '../../fake/story';

async function open(story: Story) {
  const host = new FakeHost(story);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, keys: userEvent.setup() };
}

/** The story of a question with this text, in place of its own. */
function asking(text: string, call?: string): Story {
  const story = question();
  const views = story.views.map((view) => ({
    ...view,
    question: view.question && { ...view.question, text, call: call ?? view.question.call },
    items: view.items.map((item) => (item.type === 'asked' ? { ...item, text } : item)),
  }));
  return { ...story, views };
}

const text = 'Which train, **early** or late? See [[Trieste, trains]].';

it('an open question, and an answered one, are shown as Markdown', async () => {
  const { host } = await open(asking(text));
  const card = within(await screen.findByTestId('question-card'));
  expect(card.getByText('early').tagName).toBe('STRONG');
  expect(card.getByText('Trieste, trains').closest('a')).not.toBeNull();
  expect(screen.getByRole('region', { name: /Which train, early or late/ })).toBeVisible();
  const item = { type: 'asked', id: 'q1', text, answer: 'Early', withdrawn: false } as const;
  host.tell(
    { type: 'item_changed', conversation: 'trieste', item },
    { type: 'question_changed', conversation: 'trieste', question: null },
  );
  const asked = (await screen.findByText('Question answered')).closest('section');
  if (!asked) throw new Error('no question is shown');
  expect(within(asked).getByText('early').tagName).toBe('STRONG');
});

it('a question of a command is shown as plain text', async () => {
  await open(asking('Which of **these**?', 'cmd-1'));
  expect(await screen.findByTestId('question-card')).toHaveTextContent('Which of **these**?');
});

it('an option shows where it holds characters that nobody sees', async () => {
  const story = question();
  const views = story.views.map((view) => ({
    ...view,
    question: view.question && { ...view.question, options: ['Keep it', 'Keep\u200b it'] },
  }));
  await open({ ...story, views });
  const options = await screen.findAllByTestId('question-option');
  const texts = options.map((option) => option.querySelector('.grow')?.textContent);
  expect(texts).toEqual(['Keep it', 'Keep⊘ it']);
});

const second = 'Friday 17:31, direct, arrives after dinner';

it('an option is chosen by its number while nothing is written, and sent by Enter', async () => {
  const { host, keys } = await open(question());
  const box = screen.getByTestId('composer');
  await waitFor(() => expect(box).toHaveFocus());
  await keys.keyboard('2');
  expect(box).toHaveValue('2');
  expect(screen.getByTestId('answers')).toHaveTextContent(`Enter sends “${second}”`);
  const [, option] = screen.getAllByTestId('question-option');
  expect(option).toHaveClass('chosen');
  expect(host.asked('sendMessage'), 'more may be written').toEqual([]);
  await keys.keyboard('{Enter}');
  await waitFor(() =>
    expect(host.asked('sendMessage')).toEqual([
      { conversation: 'trieste', text: second, answers: 'question-1', openNote: null },
    ]),
  );
  await waitFor(() => expect(screen.queryByTestId('question-card')).toBeNull());
  expect(box).toHaveFocus();
  expect(box).toHaveValue('');
});

it('an answer may begin with the number of an option', async () => {
  const { host, keys } = await open(question());
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  await keys.keyboard('2 kg');
  expect(screen.getByTestId('answers')).toHaveTextContent('Answering the question');
  await keys.keyboard('{Enter}');
  await waitFor(() =>
    expect(host.asked('sendMessage')).toEqual([
      { conversation: 'trieste', text: '2 kg', answers: 'question-1', openNote: null },
    ]),
  );
});

it('a digit that is pressed elsewhere chooses in the composer, and never behind other text', async () => {
  const { host, keys } = await open(question());
  const box = screen.getByTestId('composer');
  await waitFor(() => expect(box).toHaveFocus());
  screen.getByTestId('attach').focus();
  await keys.keyboard('9');
  expect(box, 'there is no such option').toHaveValue('');
  await keys.keyboard('2');
  expect(box).toHaveFocus();
  expect(box).toHaveValue('2');
  await keys.keyboard('0');
  screen.getByTestId('attach').focus();
  await keys.keyboard('1');
  expect(box).toHaveValue('20');
  expect(host.asked('sendMessage')).toEqual([]);
});

it('a digit that is pressed in a dialog chooses no option', async () => {
  const { keys } = await open(question());
  const box = screen.getByTestId('composer');
  await waitFor(() => expect(box).toHaveFocus());
  screen.getByTestId('attach').focus();
  await keys.keyboard('?');
  const dialog = await screen.findByRole('dialog');
  await keys.keyboard('2');
  expect(box).toHaveValue('');
  dialog.dispatchEvent(new Event('cancel'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  screen.getByTestId('attach').focus();
  await keys.keyboard('2');
  expect(box).toHaveValue('2');
});
