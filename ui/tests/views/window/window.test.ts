import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { advanceClockEachTime } from '../../fake/advancing-clock';
import { stories } from '../../fake/stories';
import type { Story } from '../../fake/story';

/** The whole window over a story, once it is drawn. */
async function open(story: string, change: Partial<Story> = {}) {
  const tell = stories[story];
  if (!tell) throw new Error(`no story ${story}`);
  const host = new FakeHost({ ...tell(), ...change });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session, keys: userEvent.setup() };
}

describe('by keyboard only', () => {
  it('a message is sent, and the focus stays where one writes', async () => {
    const { host, keys } = await open('empty-vault');
    const composer = await screen.findByTestId('composer');
    await waitFor(() => expect(composer).toHaveFocus());
    await keys.keyboard('What is in the pantry?{Enter}');
    await screen.findByText('What is in the pantry?', { selector: '.me' });
    expect(host.asked('sendMessage')).toEqual([
      { conversation: null, text: 'What is in the pantry?', answers: null, openNote: null },
    ]);
    expect(screen.getByTestId('composer')).toHaveFocus();
    expect(screen.getByTestId('composer')).toHaveValue('');
  });

  it('changes are reviewed and applied', async () => {
    const { host, keys } = await open('review');
    const opener = await screen.findByTestId('review-open');
    opener.focus();
    await keys.keyboard('{Enter}');
    const apply = await screen.findByTestId('review-apply');
    expect(apply).toBeDisabled();
    await keys.keyboard('are');
    const own = await screen.findByRole('textbox', { name: 'New lines' });
    await waitFor(() => expect(own).toHaveFocus());
    await keys.clear(own);
    await keys.keyboard('- Ask Marta{Control>}{Enter}{/Control}');
    await screen.findByText('edited by you');
    await keys.keyboard('jr');
    expect(apply).toHaveTextContent('Apply changes to 1 note, reject 1');
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
    expect(host.asked('decideReview')).toEqual([
      {
        review: 'review-1',
        notes: [
          {
            path: 'Projects/Harbour Library.md',
            seen: expect.any(String),
            decision: {
              type: 'hunks',
              hunks: [
                { type: 'accept' },
                { type: 'reject' },
                { type: 'edit', text: '- Ask Marta' },
              ],
            },
          },
          {
            path: 'Projects/Reading room, opening plan.md',
            seen: expect.any(String),
            decision: { type: 'reject' },
          },
        ],
      },
    ]);
    expect(screen.getByTestId('review-open')).toHaveTextContent('Review 1 note');
  });

  it('a model that is gone leads to where another one is chosen', async () => {
    const { host, keys } = await open('retired');
    (await screen.findByRole('button', { name: 'Choose a model' })).focus();
    await keys.keyboard('{Enter}');
    const model = await screen.findByRole('combobox', { name: 'Model' });
    await waitFor(() => expect(model).toHaveFocus());
    await keys.clear(model);
    await keys.type(model, 'claude-haiku-4-5{Tab}');
    expect(host.asked('saveSettings')).toMatchObject([{ model: 'claude-haiku-4-5' }]);
  });

  it('Esc stops, Ctrl+N begins a conversation, Ctrl+, opens the settings and Esc leaves them', async () => {
    const { host, session, keys } = await open('chat');
    await screen.findByTestId('stop');
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByTestId('stop')).toBeNull());
    expect(host.asked('stop')).toEqual(['groceries']);
    await keys.keyboard('{Control>}n{/Control}');
    expect(session.app.chat).toBeNull();
    await keys.keyboard('{Control>},{/Control}');
    await screen.findByTestId('settings');
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  });

  it.each([
    ['Esc', '{Escape}'],
    ['a new conversation', '{Control>}n{/Control}'],
    ['the search', '{Control>}{Shift>}f{/Shift}{/Control}'],
  ])('saves the rule that is being typed when the settings are left by %s', async (_, leave) => {
    const { host, session, keys } = await open('chat');
    session.openSettings('private');
    const rules = await screen.findByRole('textbox', { name: 'Never share' });
    await keys.clear(rules);
    await keys.type(rules, 'Diary/');
    expect(host.asked('saveSettings')).toEqual([]);
    await keys.keyboard(leave);
    await waitFor(() => expect(screen.queryByTestId('settings')).toBeNull());
    expect(host.asked('saveSettings')).toMatchObject([{ private: { never: ['Diary/'] } }]);
  });
});

describe('a review', () => {
  it('names the sources that were read before it, and warns of rules for the assistant', async () => {
    const { keys } = await open('review');
    await keys.click(await screen.findByTestId('review-open'));
    expect(await screen.findByTestId('review-sources')).toHaveTextContent(
      'Proposed after reading a hub message, Letters/Municipality',
    );
    expect(screen.queryByText(/Rules for the assistant/)).toBeNull();
  });

  it('is decided note by note with buttons, and the last button says what it does', async () => {
    const { keys } = await open('review');
    await keys.click(await screen.findByTestId('review-open'));
    const named = (name: string) => within(screen.getByRole('region', { name }));
    const button = (name: string, which: string) =>
      named(name).getAllByTestId(`review-${which}`)[0] ?? document.body;
    await screen.findByRole('region', { name: 'Invitation' });
    const names = ['Harbour Library', 'Reading room, opening plan', 'Invitation'];
    const apply = screen.getByTestId('review-apply');
    for (const name of names.slice(0, 2)) await keys.click(button(name, 'accept'));
    expect(apply).toHaveTextContent('Apply changes to 2 notes');
    for (const name of names) await keys.click(button(name, 'reject'));
    expect(apply).toHaveTextContent('Reject 3 notes');
    for (const name of names) await keys.click(button(name, 'reject'));
    expect(apply).toBeDisabled();
  });

  it('of sixty notes takes three decisions, and single places can be excluded', async () => {
    const { host, keys } = await open('sixty');
    await keys.click(await screen.findByTestId('review-open'));
    expect(await screen.findByRole('heading', { name: '60 notes, 3 decisions' })).toBeVisible();
    const same = screen.getByRole('region', { name: 'Link target' });
    expect(same).toHaveTextContent('58 places in 58 notes');
    await keys.keyboard('a');
    await keys.click(within(same).getByRole('button', { name: 'Exclude Diary/2026-01-02' }));
    const apply = screen.getByTestId('review-apply');
    expect(apply).toHaveTextContent('Apply changes to 57 notes, reject 1');
    expect(within(same).getByTestId('review-accept')).toHaveTextContent('57 accepted');
    await keys.click(screen.getByRole('button', { name: /^Not reviewed: Harbour Library/ }));
    await keys.keyboard('{Shift>}A{/Shift}jjjr');
    expect(screen.getByText('3 of 3 reviewed')).toBeVisible();
    await keys.keyboard('{Control>}{Enter}{/Control}');
    await waitFor(() => expect(host.asked('decideReview')).toHaveLength(1));
    const notes = host.decided()[0]?.notes ?? [];
    const given = (type: string) => notes.filter(({ decision }) => decision.type === type).length;
    expect([notes.length, given('accept'), given('reject')]).toEqual([60, 58, 2]);
  });

  it('that is withdrawn elsewhere leads back to the chat', async () => {
    const { host, keys } = await open('review');
    await keys.click(await screen.findByTestId('review-open'));
    await screen.findByTestId('review-apply');
    host.tell({ type: 'review_changed', conversation: 'harbour', review: null });
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  });
});

describe('a question', () => {
  it('can be set aside for something new', async () => {
    const { host, keys } = await open('question');
    await keys.click(await screen.findByText('Ask something else'));
    expect(screen.getByTestId('composer')).toHaveFocus();
    await keys.keyboard('2 tickets, please{Enter}');
    await waitFor(() =>
      expect(host.asked('sendMessage')).toEqual([
        { conversation: 'trieste', text: '2 tickets, please', answers: null, openNote: null },
      ]),
    );
  });
});

describe('an answer that needs approval', () => {
  it('needs the user, and is sent or discarded one by one', async () => {
    const clock = advanceClockEachTime();
    const { host, keys } = await open('held');
    expect(await screen.findByText('Needs attention')).toBeInTheDocument();
    expect(screen.getByTestId('approval-card')).toHaveTextContent('And the way back is at seven.');
    expect(screen.getByTestId('approval-card')).toHaveTextContent('The disk is full');
    expect(screen.getByTestId('approval-card')).toHaveTextContent('4 hub messages need attention');
    await keys.click(screen.getByRole('button', { name: 'Try again' }));
    for (const button of screen.getAllByTestId('approval-send').slice(0, 1))
      await keys.click(button);
    const [discard] = screen.getAllByTestId('approval-discard');
    if (!discard) throw new Error('nothing is left');
    await keys.click(discard);
    await keys.click(screen.getByTestId('approval-discard'));
    expect(host.asked('decideApproval')).toEqual([
      { number: 4, decision: 'send' },
      { number: 1, decision: 'send' },
      { number: 2, decision: 'discard' },
      { number: 3, decision: 'discard' },
    ]);
    expect(screen.queryByTestId('approval-card')).toBeNull();
    clock.mockRestore();
  });
});

describe('problems', () => {
  it('is shown at the top until it is dismissed', async () => {
    const { keys } = await open('trouble');
    const [first] = await screen.findAllByTestId('problem');
    if (!first) throw new Error('no problem is shown');
    expect(first).toHaveTextContent('The settings can’t be written');
    await keys.click(within(first).getByRole('button', { name: 'Dismiss' }));
    expect(screen.getAllByTestId('problem')).toHaveLength(1);
    expect(screen.getByTestId('composer')).toHaveFocus();
  });

  it('with the hub says when it tries again and what it could not read', async () => {
    const { keys } = await open('trouble');
    await keys.click(await screen.findByTestId('status-hub'));
    expect(await screen.findByText(/^Retrying in (39|40) s$/)).toBeVisible();
    expect(screen.getByText(/^3 invalid messages/)).toBeVisible();
  });

  it('with the hub or the provider is a word that leads to its settings', async () => {
    const { session, keys } = await open('trouble');
    await keys.click(await screen.findByTestId('status-hub'));
    expect(session.place).toEqual({ name: 'settings', section: 'hub' });
    expect(screen.getByTestId('settings')).toHaveTextContent('isn’t responding');
    session.backToChat();
    await keys.click(await screen.findByTestId('status-provider'));
    expect(session.place).toEqual({ name: 'settings', section: 'answering' });
  });

  it('is not shown where nothing does', async () => {
    await open('chat');
    await screen.findByTestId('composer');
    for (const trouble of ['problem', 'status-hub', 'status-provider']) {
      expect(screen.queryByTestId(trouble)).toBeNull();
    }
  });

  it.each([
    ['interrupted', 'Continue'],
    ['limited', 'Continue'],
  ])('in a turn that was %s has a way on: %s', async (story, word) => {
    const { host, keys } = await open(story);
    await keys.click(await screen.findByRole('button', { name: word }));
    await waitFor(() => expect(screen.queryByRole('button', { name: word })).toBeNull());
    expect(host.asked('continueTurn')).toEqual(['books-2']);
  });

  it('a message that failed is tried again as it is, and the failure goes', async () => {
    const { host, keys } = await open('failed');
    await keys.click(await screen.findByRole('button', { name: 'Try again' }));
    expect(host.asked('regenerate')).toEqual([{ message: 'u1', text: null, old: null }]);
    expect(host.asked('continueTurn')).toEqual([]);
    await waitFor(() => expect(screen.queryByText('Couldn’t finish the answer')).toBeNull());
    expect(screen.getAllByText(/^Go through the diary/, { selector: '.me' })).toHaveLength(1);
  });

  it('a message is edited, and its old version is shown again', async () => {
    const { host, keys } = await open('limited');
    const actions = () => within(screen.getByTestId('message-actions'));
    (await screen.findByRole('button', { name: 'Edit' })).focus();
    await keys.keyboard('{Enter}');
    const box = await screen.findByRole('textbox', { name: 'Your message' });
    await keys.clear(box);
    await keys.keyboard('Only the diary of July.{Enter}');
    await screen.findByText('Only the diary of July.', { selector: '.me' });
    expect(actions().getByRole('group', { name: /Versions/ })).toHaveTextContent('2 of 2');
    expect(host.asked('regenerate')).toEqual([
      { message: 'u1', text: 'Only the diary of July.', old: null },
    ]);
    // While it is answered nothing forks.
    expect(actions().getByRole('button', { name: /Previous/ })).toBeDisabled();
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(actions().getByRole('button', { name: /Previous/ })).toBeEnabled());
    actions()
      .getByRole('button', { name: /Previous/ })
      .focus();
    await keys.keyboard('{Enter}');
    await screen.findByText(/Go through the diary since June/, { selector: '.me' });
    expect(actions().getByRole('group', { name: /Versions/ })).toHaveTextContent('1 of 2');
  });

  it.each([
    ['Undo changes and regenerate', 'undo'],
    ['Keep changes and regenerate', 'keep'],
  ])('asking again asks about old changes first: %s', async (word, old) => {
    const { host, keys } = await open('limited', { old: { changed: 3, waiting: 4 } });
    await keys.click(await screen.findByRole('button', { name: 'Regenerate' }));
    const card = within(await screen.findByTestId('old-changes'));
    expect(card.getByText('3 notes changed, 4 changes to review')).toBeVisible();
    expect(card.getByText(/earlier pending changes to the same notes are rejected/)).toBeVisible();
    await keys.click(card.getByRole('button', { name: word }));
    await waitFor(() => expect(screen.queryByTestId('old-changes')).toBeNull());
    expect(host.asked('regenerate')).toEqual([
      { message: 'u1', text: null, old: null },
      { message: 'u1', text: null, old },
    ]);
  });

  it('a queued message is edited and removed by keyboard', async () => {
    const { host, session, keys } = await open('chat');
    await keys.type(await screen.findByTestId('composer'), 'and pears{Enter}');
    const line = within(await screen.findByTestId('queued'));
    line.getByRole('button', { name: 'Edit' }).focus();
    await keys.keyboard('{Enter}');
    const box = await screen.findByRole('textbox', { name: 'Your message' });
    expect(box).toHaveFocus();
    await keys.keyboard('{Escape}');
    expect(screen.queryByRole('textbox', { name: 'Your message' })).toBeNull();
    expect(host.asked('stop'), 'Esc is about the words').toEqual([]);
    await keys.click(line.getByRole('button', { name: 'Edit' }));
    await keys.keyboard(', four{Enter}');
    await screen.findByText('and pears, four', { selector: '.me' });
    await keys.click(line.getByRole('button', { name: 'Remove' }));
    await waitFor(() => expect(screen.queryByTestId('queued')).toBeNull());
    expect(host.asked('removeQueued')).toHaveLength(1);
    expect(session.app.current?.working).toBe(true);
  });

  it.each([
    ['Undo 3', ['undo', 'dismissInterruptedTurn']],
    ['Leave as is', ['dismissInterruptedTurn']],
  ])('after an interruption ends with %s, by keyboard', async (word, asked) => {
    const { host, keys } = await open('interrupted');
    const card = within(await screen.findByTestId('interrupted'));
    expect(card.getByText('3 notes changed, 4 changes to review')).toBeVisible();
    card.getByRole('button', { name: word }).focus();
    await keys.keyboard('{Enter}');
    await waitFor(() => expect(card.queryByRole('button')).toBeNull());
    const ends = host.calls.filter(([name]) => /^(?:undo|dismissInterruptedTurn)$/.test(name));
    expect(ends.map(([name]) => name)).toEqual(asked);
    expect(host.asked('dismissInterruptedTurn')).toEqual(['t1']);
  });

  it('with the key leads to the settings', async () => {
    const { session, keys } = await open('failed');
    await keys.click(await screen.findByRole('button', { name: 'Open settings' }));
    expect(session.place).toEqual({ name: 'settings', section: 'answering' });
  });
});

describe('the first run', () => {
  it('leads from a folder over a key to the first message', async () => {
    const { host, keys } = await open('first-run');
    await keys.click(await screen.findByRole('button', { name: 'Choose a folder…' }));
    await keys.click(await screen.findByRole('radio', { name: /Use an API key/ }));
    await keys.type(screen.getByLabelText('API key'), 'sk-test');
    await keys.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('The API key works.');
    await keys.click(screen.getByRole('button', { name: 'What did I write about this month?' }));
    await screen.findByTestId('chat-log');
    expect(host.asked('setKey')).toEqual([{ key: 'sk-test', place: 'keyring' }]);
    expect(host.asked('sendMessage')).toHaveLength(1);
    expect(screen.queryByTestId('firstrun')).toBeNull();
  });

  it('says why the vault is gone and offers another folder', async () => {
    await open('lost-vault');
    expect(await screen.findByTestId('problem')).toHaveTextContent('There is no folder at /media');
    expect(screen.getByRole('button', { name: 'Choose another folder…' })).toBeVisible();
  });
});

describe('a note', () => {
  it('opens beside the chat, leads on to others, and gives the focus back', async () => {
    const { host, keys } = await open('chat');
    await keys.click(await screen.findByRole('link', { name: 'Pantry' }));
    const pane = await screen.findByTestId('note-pane');
    expect(within(pane).getByText('Rice for risotto')).toBeVisible();
    expect(within(pane).getByText('2026-11-14')).toBeVisible();
    await keys.click(within(pane).getByRole('button', { name: 'Close note' }));
    expect(screen.queryByTestId('note-pane')).toBeNull();
    expect(host.asked('closeNote')).toHaveLength(1);
    expect(screen.getByTestId('composer')).toHaveFocus();
  });
});

describe('changes of other programs', () => {
  it('to the shown note is shown at once, where the reader is', async () => {
    const { host, keys } = await open('chat');
    await keys.click(await screen.findByRole('link', { name: 'Pantry' }));
    const pane = await screen.findByTestId('note-pane');
    const scroller = within(pane).getByRole('region', { name: 'Pantry' });
    const kept = within(pane).getByText('Rice for risotto');
    scroller.scrollTop = 40;
    const { content } = await host.showNote('Pantry.md', 'user');
    const text = `${content.text}\n\nMore salt\n`;
    host.tell({ type: 'note_changed', path: 'Pantry.md', content: { ...content, text } });
    expect(await within(pane).findByText('More salt')).toBeVisible();
    expect(within(pane).getByRole('region', { name: 'Pantry' })).toBe(scroller);
    expect(within(pane).getByText('Rice for risotto')).toBe(kept);
    expect(scroller.scrollTop).toBe(40);
    expect(screen.queryByTestId('note-removed')).toBeNull();
    host.tell({ type: 'note_changed', path: 'Pantry.md', content: null });
    expect(await within(pane).findByTestId('note-removed')).toBeVisible();
    expect(within(pane).getByText('More salt')).toBeVisible();
  });

  it('to the folder is shown until it is well, and asks for nothing', async () => {
    const { host, session } = await open('chat');
    const { vault } = session.app;
    const asked = host.calls.length;
    const trouble = { code: 'vault', message: 'The folder is gone.' } as const;
    host.tell({ type: 'vault_changed', vault: vault && { ...vault, trouble } });
    expect(await screen.findByTestId('vault-trouble')).toHaveTextContent('The folder is gone.');
    host.tell({ type: 'vault_changed', vault: vault && { ...vault, notes: 7 } });
    await waitFor(() => expect(screen.queryByTestId('vault-trouble')).toBeNull());
    expect(session.app.vault?.notes).toBe(7);
    expect(host.calls).toHaveLength(asked);
  });
});

describe('settings', () => {
  it('take the whole width, and the note is back with the chat', async () => {
    const { keys } = await open('chat');
    await keys.click(await screen.findByRole('link', { name: 'Pantry' }));
    await screen.findByTestId('note-pane');
    await keys.keyboard('{Control>},{/Control}');
    await screen.findByRole('heading', { name: 'Vault' });
    expect(screen.queryByTestId('note-pane')).toBeNull();
    await keys.keyboard('{Escape}');
    expect(await screen.findByTestId('note-pane')).toBeVisible();
  });

  it('are saved as a whole, each at once', async () => {
    const { host, session, keys } = await open('chat');
    session.openSettings('general');
    await keys.selectOptions(await screen.findByLabelText('Theme'), 'Dark');
    expect(host.asked('saveSettings')).toMatchObject([{ theme: 'dark', mode: 'review' }]);
    expect(document.documentElement.dataset.theme).toBe('dark');
    await keys.click(screen.getByRole('button', { name: 'Hub' }));
    await keys.click(screen.getByRole('switch', { name: 'Connect' }));
    expect(host.asked('saveSettings')[1]).toMatchObject({
      theme: 'dark',
      hub: { enabled: true, address: 'ws://127.0.0.1:9473' },
    });
  });

  it('keep what is private, one rule a line', async () => {
    const { host, session, keys } = await open('chat');
    session.openSettings('private');
    await keys.type(await screen.findByLabelText('Never share'), 'Diary/{Enter}{Enter} #private ');
    await keys.tab();
    const rules = { never: ['Diary/', '#private'], local: [], endpointIsLocal: false };
    expect(host.asked('saveSettings')).toMatchObject([{ private: rules }]);
    await keys.click(screen.getByRole('switch', { name: 'Server runs local models' }));
    expect(host.asked('saveSettings')[1]).toMatchObject({
      private: { ...rules, endpointIsLocal: true },
    });
    await keys.click(screen.getByRole('button', { name: 'Vault' }));
    await keys.click(screen.getByRole('switch', { name: 'Symbolic links' }));
    expect(host.asked('saveSettings')[2]).toMatchObject({ followLinks: true });
  });

  it('add additional folders, remove them and say why one is not added', async () => {
    const { host, session, keys } = await open('chat');
    session.openSettings('vault');
    const roots = await screen.findByTestId('extra-roots');
    expect(roots).toHaveTextContent('Recipes');
    const add = screen.getByRole('button', { name: 'Add a folder' });
    await keys.click(add);
    const recipes = { folder: '/home/anna/Recipes', name: 'Recipes' };
    const added = { folder: 'Documents/Notebook', name: 'Notebook' };
    expect(host.asked('addExtraRoot')).toHaveLength(1);
    expect(roots).toHaveTextContent('Documents/Notebook');

    host.refusals.set('addExtraRoot', { code: 'other', message: 'That is the vault itself.' });
    await keys.click(add);
    expect(await screen.findByTestId('problem')).toHaveTextContent('That is the vault itself.');
    expect(session.app.settings.extraRoots).toEqual([recipes, added]);
    expect(host.asked('saveSettings')).toEqual([]);

    await keys.click(screen.getByRole('button', { name: 'Remove Recipes' }));
    expect(session.app.settings.extraRoots).toEqual([added]);
  });

  it('test the provider and say what came back', async () => {
    const { session, keys } = await open('chat');
    session.openSettings('answering');
    await keys.click(await screen.findByRole('button', { name: 'Test' }));
    await screen.findByText('Connected.');
  });
});
