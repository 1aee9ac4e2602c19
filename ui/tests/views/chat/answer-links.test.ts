import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { answered, row, userMessage, view } from '../../fake/stories/base';
import { search } from '../../fake/stories/search';
import type { Story } from '../../fake/story';

const words = [
  'The key hangs in the [[Tool cupboard#Left door|cupboard]]; ',
  'see [[House/Heating]], [another one](Tool%20cupboard.md) and [[conversation:other|what was said]].',
].join('');

async function open(change: Partial<Story> = {}) {
  const story = search();
  const heating = row('heating', 'What the heating needs');
  const views = [view(heating, [userMessage('u', 'Where is the key?'), answered('a', words)])];
  const host = new FakeHost({ ...story, views, ...change });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  const log = within(await screen.findByTestId('chat-log'));
  return { host, session, log, keys: userEvent.setup() };
}

/** The application has looked at the notes again. */
function changed(host: FakeHost): void {
  const { vault } = search().snapshot;
  host.tell({ type: 'vault_changed', vault: vault && { ...vault, revision: 1 } });
}

describe('a link in an answer', () => {
  it('to nothing is text with a mark, which cannot be opened', async () => {
    const { host, log, keys } = await open();
    const broken = await log.findAllByTitle('broken link');
    expect(broken.map(({ textContent }) => textContent)).toEqual(['cupboard', 'another one']);
    for (const link of broken) {
      expect(link).not.toHaveAttribute('role');
      expect(link).not.toHaveAttribute('tabindex');
      await keys.click(link);
    }
    expect(host.asked('showNote')).toEqual([]);
    expect(log.getAllByRole('link').map(({ textContent }) => textContent)).toEqual([
      'House/Heating',
      'what was said',
    ]);
    expect(host.asked('brokenLinks')[0]).toEqual([
      'Tool cupboard',
      'House/Heating',
      'Tool cupboard.md',
    ]);
  });

  it('leads somewhere once the note is there', async () => {
    const { host, log, keys } = await open();
    await log.findAllByTitle('broken link');
    host.write('Tool cupboard.md', '# Tool cupboard');
    changed(host);
    await waitFor(() => expect(log.queryByTitle('broken link')).toBeNull());
    await keys.click(log.getByRole('link', { name: 'cupboard' }));
    await waitFor(() => expect(host.asked('showNote')).toEqual(['Tool cupboard.md']));
  });

  it('is a link for as long as nobody knows', async () => {
    const story = search();
    const { queries } = story;
    const { log, host } = await open(queries && { queries: { ...queries, stands: false } });
    await waitFor(() => expect(host.asked('brokenLinks')).not.toEqual([]));
    expect(log.getAllByRole('link')).toHaveLength(4);
    expect(log.queryByTitle('broken link')).toBeNull();
  });

  it('is asked about while the answer grows, each name once', async () => {
    const { host, log } = await open();
    await log.findAllByTitle('broken link');
    const conversation = 'heating';
    const item = {
      type: 'assistant',
      id: 'b',
      text: 'See [[Minutes 2019]]',
      streaming: true,
      cut: false,
    } as const;
    host.tell({ type: 'item_changed', conversation, item });
    await waitFor(() => expect(log.getAllByTitle('broken link')).toHaveLength(3));
    const text = ' and [[House/Heating]] and so on.';
    host.tell({ type: 'text_added', conversation, id: 'b', text });
    await log.findByText(/and so on/);
    expect(log.getAllByTitle('broken link')).toHaveLength(3);
    const about = host.calls.filter(([, named]) => JSON.stringify(named)?.includes('Minutes 2019'));
    expect(about).toEqual([['brokenLinks', ['Minutes 2019']]]);
  });
});
