import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { Conversation } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { healthy, row, view } from '../../fake/stories/base';

const now = Date.now();
const soup = row('soup', 'Lentil soup', { updatedAt: now });
const boat = row('boat', 'Paint for the boat', { updatedAt: now - 1000 });

function words(id: string, text: string) {
  return { type: 'user', id, text, origin: 'window', at: now, queued: false } as const;
}

/** The window over these conversations, the first one open. */
async function open(rows: Conversation[] = [soup, boat], behind: string | null = null) {
  const snapshot = { ...healthy([]), conversations: rows, behind };
  const views = [
    view(soup, [words('m1', 'Red lentils or green?')]),
    view(boat, [words('m2', 'Which red for the boat?'), words('m3', 'And the mast?')]),
  ];
  const host = new FakeHost({ snapshot, views, notes: {} });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

function titles(): string[] {
  const rows = screen.getByTestId('conversation-list').querySelectorAll('[data-row]');
  return [...rows].map((one) => one.getAttribute('title') ?? '');
}

function press(title: string): HTMLElement {
  return within(screen.getByTestId('conversation-list')).getByTitle(title);
}

describe('a conversation in the list', () => {
  it('that needs attention stands in the title of the window', async () => {
    const { host } = await open();
    await waitFor(() => expect(document.title).toBe('Lentil soup – Vaultmate'));
    host.tell({ type: 'conversation_changed', conversation: { ...boat, waitingNotes: 2 } });
    await waitFor(() => expect(document.title).toBe('1 needs attention – Lentil soup – Vaultmate'));
    host.tell({ type: 'conversation_changed', conversation: boat });
    await waitFor(() => expect(document.title).toBe('Lentil soup – Vaultmate'));
  });

  it('says what it was about, and takes its title when it comes', async () => {
    const { host } = await open();
    const summary = 'They cooked soup. It was red.';
    const titled: Conversation = { ...soup, title: 'A soup of lentils', summary };
    host.tell({ type: 'conversation_changed', conversation: titled });
    await waitFor(() => expect(titles()[0]).toBe(`A soup of lentils\n\n${summary}`));
    expect(screen.getByTestId('conversation-list')).toHaveTextContent('A soup of lentils');
  });
});

describe('the list by keyboard', () => {
  it('renames a conversation, and Esc keeps the old title', async () => {
    const { host, keys } = await open();
    press('Lentil soup').focus();
    await keys.keyboard('{F2}');
    const field = await screen.findByTestId('conversation-name');
    expect(field).toHaveFocus();
    expect(field).toHaveValue('Lentil soup');
    await keys.keyboard('Soups{Escape}');
    expect(host.asked('renameConversation')).toEqual([]);
    await waitFor(() => expect(press('Lentil soup')).toHaveFocus());
    await keys.keyboard('{F2}Soups{Enter}');
    await waitFor(() => expect(titles()).toEqual(['Soups', 'Paint for the boat']));
    expect(host.asked('renameConversation')).toEqual([{ conversation: 'soup', name: 'Soups' }]);
    await waitFor(() => expect(press('Soups')).toHaveFocus());
  });

  it.each([
    ['comes to need attention', row('pump', 'Pump'), { waitingNotes: 1 }],
    ['no longer needs attention', row('pump', 'Pump', { waitingNotes: 1 }), { waitingNotes: 0 }],
  ])('goes on with a name whose conversation %s', async (_, pump, change) => {
    const { host, keys } = await open([soup, pump, boat]);
    press('Pump').focus();
    await keys.keyboard('{F2}New ');
    const before = screen.getByTestId('conversation-name');
    host.tell({ type: 'conversation_changed', conversation: { ...pump, ...change } });
    await waitFor(() => expect(before).not.toBeInTheDocument());
    const field = screen.getByTestId('conversation-name');
    expect(field).toHaveFocus();
    await keys.keyboard('pump');
    expect(field).toHaveValue('New pump');
    expect(host.asked('renameConversation')).toEqual([]);
    // Where the keyboard goes elsewhere, the name is kept.
    await keys.click(screen.getByTestId('composer'));
    expect(host.asked('renameConversation')).toEqual([{ conversation: 'pump', name: 'New pump' }]);
  });

  it('goes on with a name that is refused, and begins again with the next one', async () => {
    const { host, keys } = await open();
    press('Lentil soup').focus();
    host.refusals.set('renameConversation', { code: 'write', message: 'The disk is full.' });
    await keys.keyboard('{F2}Soups{Enter}');
    await waitFor(() => expect(screen.getByTestId('conversation-name')).toHaveValue('Soups'));
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(press('Lentil soup')).toHaveFocus());
    await keys.keyboard('{F2}');
    expect(await screen.findByTestId('conversation-name')).toHaveValue('Lentil soup');
  });

  it('takes the keyboard from no text for a name that is refused', async () => {
    const { host, keys } = await open();
    press('Lentil soup').focus();
    host.refusals.set('renameConversation', { code: 'write', message: 'The disk is full.' });
    await keys.keyboard('{F2}Soups');
    await keys.click(screen.getByTestId('composer'));
    await waitFor(() => expect(screen.getByTestId('conversation-name')).toHaveValue('Soups'));
    expect(screen.getByTestId('composer')).toHaveFocus();
  });

  it('deletes with a way back, and the keyboard stays in the list', async () => {
    const { session, keys } = await open();
    press('Lentil soup').focus();
    await keys.keyboard('{Delete}');
    await waitFor(() => expect(titles()).toEqual(['Paint for the boat']));
    expect(session.app.chat).toBeNull();
    expect(screen.getByTestId('kept-notice')).toHaveTextContent('Deleted “Lentil soup”');
    await waitFor(() => expect(press('Paint for the boat')).toHaveFocus());
    await keys.keyboard('{Control>}z{/Control}');
    await waitFor(() => expect(titles()).toEqual(['Lentil soup', 'Paint for the boat']));
    expect(screen.queryByTestId('kept-notice')).toBeNull();
  });

  it('keeps no name while an input method composes it', async () => {
    const { host, keys } = await open();
    press('Lentil soup').focus();
    await keys.keyboard('{F2}Soups');
    const field = screen.getByTestId('conversation-name');
    await fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 });
    expect(host.asked('renameConversation')).toEqual([]);
    await fireEvent.keyDown(field, { key: 'Enter' });
    expect(host.asked('renameConversation')).toHaveLength(1);
  });

  it('deletes one, however long the key is held', async () => {
    const { host } = await open();
    await fireEvent.keyDown(press('Lentil soup'), { key: 'Delete' });
    await waitFor(() => expect(press('Paint for the boat')).toHaveFocus());
    await fireEvent.keyDown(press('Paint for the boat'), { key: 'Delete', repeat: true });
    expect(host.asked('deleteConversation')).toEqual(['soup']);
    expect(titles()).toEqual(['Paint for the boat']);
  });

  it('says that one which works is not deleted', async () => {
    const { host, keys } = await open();
    const refused = { code: 'other', message: 'An answer is being written.' };
    host.refusals.set('deleteConversation', refused);
    press('Lentil soup').focus();
    await keys.keyboard('{Delete}');
    await screen.findAllByText('An answer is being written.');
    expect(titles()).toHaveLength(2);
    expect(screen.queryByTestId('kept-notice')).toBeNull();
  });

  it('has a menu of all of it, moved through by arrows, left by Esc', async () => {
    const { host, keys } = await open();
    const menu = screen.getAllByTestId('conversation-menu')[0];
    menu?.focus();
    await keys.keyboard('{Enter}');
    const names = (await screen.findAllByRole('menuitem')).map((one) => one.textContent.trim());
    expect(names).toEqual([
      'Rename F2',
      'End',
      'Archive',
      'Export as Markdown',
      'Export as JSON',
      'Delete Del',
    ]);
    await waitFor(() => expect(screen.getByRole('menuitem', { name: 'Rename' })).toHaveFocus());
    await keys.keyboard('{Escape}');
    expect(menu).toHaveFocus();
    await keys.keyboard('{Enter}{ArrowDown}{Enter}');
    await waitFor(() => expect(host.asked('endConversation')).toEqual(['soup']));
  });
});

describe('archived conversations', () => {
  it('lies in the archive, comes back by undo or by choice, and an empty archive says so', async () => {
    const { keys } = await open();
    await keys.click(screen.getByTestId('open-archive'));
    await screen.findByTestId('archive-empty');
    await keys.click(screen.getByTestId('leave-archive'));
    const archive = async (): Promise<void> => {
      const [menu] = screen.getAllByTestId('conversation-menu');
      if (menu) await keys.click(menu);
      await keys.click(await screen.findByRole('menuitem', { name: 'Archive' }));
    };
    await archive();
    await waitFor(() => expect(titles()).toEqual(['Paint for the boat']));
    await keys.click(within(screen.getByTestId('kept-notice')).getByText('Undo'));
    await waitFor(() => expect(titles()).toHaveLength(2));
    await archive();
    await keys.click(screen.getByTestId('open-archive'));
    await waitFor(() => expect(titles()).toEqual(['Lentil soup']));
    await keys.click(screen.getByTestId('conversation-menu'));
    await keys.click(await screen.findByRole('menuitem', { name: 'Unarchive' }));
    await screen.findByTestId('archive-empty');
  });

  it('is in the list still while it needs the user', async () => {
    const waiting = { ...soup, archived: true, waitingQuestion: 'Red or green?' };
    await open([waiting, boat]);
    expect(titles()).toEqual(['Lentil soup', 'Paint for the boat']);
    expect(screen.getByText('Needs attention')).toBeInTheDocument();
  });
});

describe('a long list', () => {
  it('goes on page by page', async () => {
    const rows = [1, 2, 3, 4, 5, 6].map((n) => row(`r${n}`, `Row ${n}`, { updatedAt: now - n }));
    const { session, host, keys } = await open(rows, 'r2');
    session.app.conversations = rows.slice(0, 2);
    await keys.click(await screen.findByTestId('list-more'));
    await waitFor(() => expect(titles()).toHaveLength(5));
    await keys.click(await screen.findByTestId('list-more'));
    await waitFor(() => expect(titles()).toHaveLength(6));
    expect(screen.queryByTestId('list-more')).toBeNull();
    expect(host.asked('listConversations')).toEqual([
      { archiveState: 'open', before: 'r2' },
      { archiveState: 'open', before: 'r5' },
    ]);
  });

  it('says what will stand there when it is empty', async () => {
    await open([]);
    expect(screen.getByTestId('list-empty')).toBeInTheDocument();
  });
});

describe('export', () => {
  it('writes one conversation under its name, and all from the settings', async () => {
    const long = { ...soup, title: 'Soup: red/green?' };
    const { host, session, keys } = await open([long, boat]);
    await keys.click(screen.getAllByTestId('conversation-menu')[0] ?? document.body);
    await keys.click(await screen.findByRole('menuitem', { name: 'Export as Markdown' }));
    await screen.findByText('Exported 1 conversation to Documents/Soup red green.markdown');
    session.openSettings('vault');
    await keys.click(await screen.findByText('Export as JSON'));
    await screen.findByText('Exported 2 conversations to Documents/Conversations.json');
    expect(host.asked('exportConversations')).toEqual([
      { conversation: 'soup', format: 'markdown', name: 'Soup red green' },
      { conversation: null, format: 'json', name: 'Conversations' },
    ]);
  });
});

describe('the search in conversations', () => {
  it('finds a text from anywhere, marks it, and opens the place', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard('{Control>}{Shift>}k{/Shift}{/Control}');
    const field = screen.getByTestId('conversation-search-field');
    await waitFor(() => expect(field).toHaveFocus());
    await keys.keyboard('red');
    const found = await screen.findByTestId('conversation-search-results');
    await waitFor(() => expect(within(found).getAllByRole('button')).toHaveLength(2));
    expect(found.querySelectorAll('mark')[0]).toHaveTextContent(/red/i);
    expect(screen.queryByTestId('conversation-list')).toBeNull();
    await keys.keyboard('{ArrowDown}{ArrowDown}{Enter}');
    await waitFor(() => expect(session.app.chat?.id).toBe('boat'));
    expect(host.asked('openConversationAt')).toEqual([{ conversation: 'boat', turn: 'turn' }]);
    await waitFor(() => {
      const row = document.querySelector('[data-found]');
      expect(row).toHaveTextContent('Which red for the boat?');
    });
    await keys.keyboard('More{Enter}');
    await waitFor(() => expect(document.querySelector('[data-found]')).toBeNull());
  });

  it('opens the conversation as it is and says why where the place cannot be shown now', async () => {
    const { host, session } = await open();
    const { found } = await host.searchConversations('red');
    const hit = found.find((one) => one.conversation === 'boat' && one.place.type === 'item');
    if (!hit) throw new Error('nothing was found');
    const message = 'The search result is in another version of this conversation.';
    host.refusals.set('openConversationAt', { code: 'other', message });
    await session.openFound(hit);
    expect(session.app.chat?.id).toBe('boat');
    expect(session.app.problems.map(({ error }) => error.message)).toEqual([message]);
    const opened = host.asked('openConversation').length;
    // The control: nothing is in the way any more.
    await session.openFound(hit);
    expect(host.asked('openConversationAt')).toHaveLength(2);
    expect(host.asked('openConversation')).toHaveLength(opened);
  });

  it('says that nothing was found, and Esc shows the list again', async () => {
    const { keys } = await open();
    await keys.click(screen.getByTestId('conversation-search-field'));
    await keys.keyboard('zeppelin');
    await screen.findByText('No matching conversations');
    await keys.keyboard('{Escape}');
    expect(screen.getByTestId('conversation-list')).toBeInTheDocument();
    expect(screen.getByTestId('conversation-search-field')).toHaveValue('');
  });
});
