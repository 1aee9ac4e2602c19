import { createEvent, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { PrivateNote, SendMessageRequest } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { row } from '../../fake/stories/base';
import { search } from '../../fake/stories/search';
import { vaultAt } from '../../fake/view';

async function open(change: { hasModel?: boolean } = {}, kept: Record<string, PrivateNote> = {}) {
  const story = search();
  const { snapshot } = story;
  const host = new FakeHost({
    ...story,
    ...(story.queries && {
      queries: { ...story.queries, private: { ...story.queries.private, ...kept } },
    }),
    snapshot: {
      ...snapshot,
      provider: { ...snapshot.provider, ...change },
      conversations: [
        ...snapshot.conversations,
        row('pump', 'The heating pump, settled', { state: 'ended' }),
      ],
    },
  });
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  return { host, session, keys: userEvent.setup(), box: screen.getByTestId('composer') };
}

function sent(host: FakeHost): string[] {
  return host.asked('sendMessage').map((request) => {
    // eslint-disable-next-line no-restricted-syntax -- the fake keeps what it was called with
    return (request as SendMessageRequest).text;
  });
}

function file(name: string, text: string | Uint8Array<ArrayBuffer>): File {
  return new File([text], name);
}

describe('a mention', () => {
  it('is found by letters, stands in the sentence, is a chip, and is sent as it stands', async () => {
    const { host, keys, box } = await open();
    await keys.keyboard('What is missing in @hea');
    const list = await screen.findByRole('listbox', { name: 'Mention' });
    await waitFor(() => expect(within(list).getAllByRole('option').length).toBeGreaterThan(2));
    const heating = within(list).getByRole('option', { name: /^Note Heating House/ });
    expect(heating).toHaveAttribute('aria-selected', 'true');
    expect(box).toHaveAttribute('aria-activedescendant', heating.id);
    expect(within(list).getByRole('option', { name: /The heating pump, settled/ })).toBeVisible();
    expect(within(list).queryByRole('option', { name: /What the heating needs/ })).toBeNull();
    await keys.keyboard('{Enter}');
    expect(sent(host), 'Enter chose, it did not send').toEqual([]);
    expect(box).toHaveValue('What is missing in [[Heating]]');
    expect(box).toHaveFocus();
    expect(screen.getByTestId('chips')).toHaveTextContent('Heating');
    await keys.keyboard(', by March?{Enter}');
    await waitFor(() => expect(sent(host)).toEqual(['What is missing in [[Heating]], by March?']));
    await waitFor(() => expect(screen.queryByTestId('chips')).toBeNull());
    await keys.click(screen.getByRole('button', { name: 'Heating' }));
    expect(host.asked('showNote')).toEqual(['Heating.md']);
  });

  it('of two notes stays where each was typed', async () => {
    const { host, keys, box } = await open();
    await keys.keyboard('Move it from @heating');
    await screen.findByRole('option', { name: /^Note Heating/ });
    await keys.keyboard('{Enter} to [[[[contacts');
    await screen.findByRole('option', { name: /^Note Household contacts/ });
    await keys.keyboard('{Tab}!');
    expect(box).toHaveValue('Move it from [[Heating]] to [[Household contacts]]!');
    await keys.keyboard('{Enter}');
    await waitFor(() =>
      expect(sent(host)).toEqual(['Move it from [[Heating]] to [[Household contacts]]!']),
    );
  });

  it('is no chip any more once its text is deleted, and is one again when that comes back', async () => {
    const { session, keys, box } = await open();
    await keys.keyboard('See @heating');
    await screen.findByRole('option', { name: /^Note Heating/ });
    await keys.keyboard('{Enter}');
    expect(screen.getByTestId('chips')).toHaveTextContent('Heating');
    await keys.keyboard('{Backspace}');
    expect(box).toHaveValue('See [[Heating]');
    expect(screen.queryByTestId('chips')).toBeNull();
    await keys.keyboard(']');
    expect(screen.getByTestId('chips')).toHaveTextContent('Heating');
    await keys.click(screen.getByRole('button', { name: 'Remove Heating' }));
    expect(box).toHaveValue('See');
    expect(box).toHaveFocus();
    expect(session.drafts.mentions).toEqual([]);
  });

  it('of a private note is marked, and its name is asked about before it is inserted', async () => {
    const { host, session, keys, box } = await open();
    await keys.keyboard('As in @2025-11 and');
    await keys.keyboard('{ArrowLeft>4/}');
    const option = await screen.findByRole('option', {
      name: /^Note 2025-11-30.*hidden from all models/,
    });
    await keys.click(option);
    const dialog = await screen.findByRole('dialog', { name: 'This note is private' });
    expect(dialog).toHaveTextContent('would send its name, but not its text, to Haiku');
    await keys.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    expect(screen.queryByRole('dialog')).toBeNull();
    await waitFor(() => expect(box).toHaveFocus());
    expect(box).toHaveValue('As in @2025-11 and');
    expect(session.drafts.mentions).toEqual([]);
    await keys.keyboard('{End}{Home}');
    await keys.keyboard('{ArrowRight>14/}');
    await keys.click(await screen.findByRole('option', { name: /^Note 2025-11-30/ }));
    await keys.click(await screen.findByRole('button', { name: 'Insert anyway' }));
    await waitFor(() => expect(box).toHaveValue('As in [[2025-11-30]] and'));
    expect(box).toHaveFocus();
    await keys.keyboard('{Enter}');
    // The user agreed to it, so nothing is asked about here.
    await waitFor(() => expect(sent(host)).toEqual(['As in [[2025-11-30]] and']));
  });

  it('of a private note is asked about in its own vault alone', async () => {
    const { host, session, keys } = await open();
    session.openNew();
    await keys.keyboard('@2025-11');
    await keys.click(await screen.findByRole('option', { name: /^Note 2025-11-30/ }));
    const dialog = await screen.findByRole('dialog', { name: 'This note is private' });
    // The control: the same vault told again leaves the question where it is.
    const { vault } = session.app;
    host.tell({ type: 'vault_changed', vault: vault && { ...vault, notes: 7 } });
    await new Promise((resolve) => setTimeout(resolve));
    expect(dialog).toBeInTheDocument();
    const other = { ...vaultAt('/other', false), id: 'another' };
    const subscribed = host.subscribe.bind(host);
    host.subscribe = async (receive) => {
      return { ...(await subscribed(receive)), vault: other, conversations: [] };
    };
    host.tell({ type: 'vault_changed', vault: other });
    // Here and there a new conversation is in front of the user.
    await waitFor(() => expect(session.app.shown).toBe('another'));
    await waitFor(() => expect(dialog).not.toBeInTheDocument());
    expect(session.app.chat).toBeNull();
    expect(session.drafts.mentions).toEqual([]);
  });

  it('of a private note is asked about over its own draft alone', async () => {
    const { host, session, keys, box } = await open();
    const ask = async (): Promise<HTMLElement> => {
      await keys.click(await screen.findByRole('option', { name: /^Note 2025-11-30/ }));
      return await screen.findByRole('dialog', { name: 'This note is private' });
    };
    await keys.keyboard('As in @2025-11');
    const dialog = await ask();
    session.openNew();
    session.draft = 'As in @2025-11 and other words';
    await waitFor(() => expect(dialog).not.toBeInTheDocument());
    expect(session.draft).toBe('As in @2025-11 and other words');
    expect(session.drafts.mentions).toEqual([]);
    // Other items in the same conversation leave the question where it is.
    await session.open('heating');
    await waitFor(() => expect(box).toHaveValue('As in @2025-11'));
    await keys.click(box);
    await keys.keyboard('{Home}{End}');
    await ask();
    host.tell({ type: 'chat_changed', conversation: 'heating' });
    await waitFor(() => expect(host.asked('openConversation')).toHaveLength(3));
    await keys.click(screen.getByRole('button', { name: 'Insert anyway' }));
    await waitFor(() => expect(box).toHaveValue('As in [[2025-11-30]]'));
  });

  /** The notes that are private from now on. */
  function keepNotes(host: FakeHost, rule: PrivateNote): void {
    host.privateNote = () => Promise.resolve(rule);
  }

  it('that became private is marked, and its name is asked about before it is sent', async () => {
    const { host, session, keys, box } = await open();
    await keys.keyboard('See @heating');
    await screen.findByRole('option', { name: /^Note Heating/ });
    await keys.keyboard('{Enter}');
    const chips = await screen.findByTestId('chips');
    expect(chips).not.toHaveTextContent('Private');
    keepNotes(host, 'never');
    const other = { label: 'Sonnet', model: 'claude-sonnet-4-5' };
    host.tell({ type: 'provider_changed', provider: { ...session.app.provider, ...other } });
    await waitFor(() => expect(chips).toHaveTextContent('Private: hidden from all models'));
    await keys.keyboard(' soon{Enter}');
    const dialog = await screen.findByRole('dialog', { name: 'This note is private' });
    expect(dialog).toHaveTextContent('would send its name, but not its text, to Sonnet');
    await keys.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(box).toHaveFocus());
    expect(box).toHaveValue('See [[Heating]] soon');
    expect(sent(host)).toEqual([]);
    await keys.keyboard('{Enter}');
    await keys.click(await screen.findByRole('button', { name: 'Send anyway' }));
    await waitFor(() => expect(sent(host)).toEqual(['See [[Heating]] soon']));
    expect(screen.queryByRole('dialog')).toBeNull();
  });

  it('of a note is asked about where nothing told that it became private', async () => {
    const { host, session, keys } = await open();
    session.drafts.attach({ type: 'note', path: 'House/Heating.md', link: 'Heating' });
    keepNotes(host, 'local_only');
    await keys.keyboard('Look{Enter}');
    await screen.findByRole('dialog', { name: 'This note is private' });
    expect(sent(host)).toEqual([]);
    // The question belongs to its conversation.
    session.openNew();
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  });

  it('is asked about again where another model answers than the user agreed to', async () => {
    const { host, session, keys, box } = await open({}, { pump: 'never' });
    await keys.keyboard('@pump');
    await keys.click(await screen.findByRole('option', { name: /^Conversation The heating pump/ }));
    await keys.click(await screen.findByRole('button', { name: 'Insert anyway' }));
    await waitFor(() => expect(box).toHaveValue('[[The heating pump, settled]]'));
    const other = { label: 'Sonnet', model: 'claude-sonnet-4-5' };
    host.tell({ type: 'provider_changed', provider: { ...session.app.provider, ...other } });
    await keys.keyboard('{Enter}');
    const title = 'This conversation is about private notes';
    expect(await screen.findByRole('dialog', { name: title })).toHaveTextContent(
      'Sonnet gets neither',
    );
    expect(sent(host)).toEqual([]);
  });

  const group = 'but no text of these notes, to Haiku';
  it.each([
    {
      typed: '@diary',
      kept: { Diary: 'never' },
      option: /^Folder Diary.*hidden from all models/,
      title: 'This folder is private',
      told: `hides the notes in “Diary” from all models. Your message would send the name, ${group}`,
      inserted: 'Diary/',
    },
    {
      typed: '@#shopping',
      kept: { '#lists/shopping': 'local_only' },
      option: /^Tag lists\/shopping.*local models only/,
      title: 'This tag is private',
      told: 'limits the notes in “#lists/shopping” to models on this computer',
      inserted: '#lists/shopping',
    },
    {
      typed: '@pump',
      kept: { pump: 'never' },
      option: /^Conversation The heating pump, settled.*hidden from all models/,
      title: 'This conversation is about private notes',
      told: 'contains text of notes that a privacy rule hides from all models',
      inserted: '[[The heating pump, settled]]',
    },
  ] as const)('of $inserted is marked and asked about where it is private', async (one) => {
    const { session, keys, box } = await open({}, one.kept);
    await keys.keyboard(one.typed);
    await keys.click(await screen.findByRole('option', { name: one.option }));
    const dialog = await screen.findByRole('dialog', { name: one.title });
    expect(dialog).toHaveTextContent(one.told);
    await keys.click(within(dialog).getByRole('button', { name: 'Cancel' }));
    await waitFor(() => expect(box).toHaveFocus());
    expect(session.drafts.mentions).toEqual([]);
    await keys.clear(box);
    await keys.keyboard(one.typed);
    await keys.click(await screen.findByRole('option', { name: one.option }));
    await keys.click(await screen.findByRole('button', { name: 'Insert anyway' }));
    await waitFor(() => expect(box).toHaveValue(one.inserted));
    expect(session.drafts.mentions).toHaveLength(1);
  });

  it('of a folder, tag or conversation is inserted at once where nothing in it is private', async () => {
    const { host, keys, box } = await open();
    await keys.keyboard('@diary');
    await keys.click(await screen.findByRole('option', { name: /^Folder Diary/ }));
    expect(box).toHaveValue('Diary/');
    expect(screen.queryByRole('dialog')).toBeNull();
    expect(host.asked('privateMentions')).toContainEqual([{ type: 'folder', path: 'Diary' }]);
  });

  it('that is attached is removed with Backspace or its button, and the keyboard stays in the box', async () => {
    const { session, keys, box } = await open();
    session.drafts.attach({ type: 'tag', tag: 'house' });
    session.drafts.attach({ type: 'folder', path: 'Diary' });
    const chips = await screen.findByTestId('chips');
    await keys.click(within(chips).getByRole('button', { name: 'Remove house' }));
    expect(box).toHaveFocus();
    expect(chips).toHaveTextContent(/^\s*Diary\s*$/);
    await keys.keyboard('{Backspace}');
    expect(screen.queryByTestId('chips')).toBeNull();
    expect(screen.getByTestId('send')).toBeDisabled();
  });

  it('finds tags behind a #, folders, and with [[ as well; Esc offers nothing and stops nothing', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard('@#list');
    await waitFor(() => expect(screen.getAllByRole('option')).toHaveLength(2));
    await keys.keyboard('{ArrowDown}{Tab}');
    expect(session.drafts.mentions).toEqual([{ type: 'tag', tag: 'lists/shopping' }]);
    await keys.keyboard(' [[[[hous');
    expect(await screen.findByRole('option', { name: /^Folder House/ })).toBeVisible();
    const { current } = session.app;
    if (!current) throw new Error('nothing is open');
    host.tell({ type: 'conversation_changed', conversation: { ...current, working: true } });
    await keys.keyboard('{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    expect(host.asked('stop')).toEqual([]);
    await keys.keyboard('{Escape}');
    expect(host.asked('stop')).toEqual(['heating']);
  });

  it('is not looked for while an input method composes, which never chooses', async () => {
    const { host, session, keys, box } = await open();
    await keys.keyboard('@hea');
    await screen.findByRole('listbox', { name: 'Mention' });
    await fireEvent.keyDown(box, { key: 'Enter', isComposing: true });
    await fireEvent.keyDown(box, { key: 'Tab', keyCode: 229 });
    expect(session.drafts.mentions).toEqual([]);
    expect(sent(host)).toEqual([]);
    const before = host.asked('findNames').length;
    if (box instanceof HTMLTextAreaElement) box.value = '@かぎ';
    await fireEvent(box, new InputEvent('input', { isComposing: true, bubbles: true }));
    expect(host.asked('findNames')).toHaveLength(before);
    await fireEvent.compositionEnd(box);
    await waitFor(() => expect(host.asked('findNames').length).toBeGreaterThan(before));
  });

  it('is a word of the command where there is no model', async () => {
    const { host, session, keys, box } = await open({ hasModel: false });
    await keys.keyboard('open @heat');
    await waitFor(() => expect(screen.getAllByRole('option').length).toBeGreaterThan(0));
    await keys.keyboard('{Enter}');
    await waitFor(() => expect(box).toHaveValue('open House/Heating'));
    expect(session.drafts.mentions).toEqual([]);
    await keys.keyboard('{Enter}');
    expect(sent(host)).toEqual(['open House/Heating']);
  });
});

describe('a file', () => {
  it('that is a note of the vault becomes a mention, another text is attached whole', async () => {
    const { host, session, keys } = await open();
    const { text } = (await host.readNote('House/Heating.md')).content;
    await keys.upload(screen.getByTestId('attach-files'), [
      file('Heating.md', text),
      file('Heating.md', 'Another text of that name'),
    ]);
    await waitFor(() =>
      expect(session.drafts.mentions).toEqual([
        { type: 'note', path: 'House/Heating.md', link: 'Heating' },
        { type: 'file', name: 'Heating.md', text: 'Another text of that name' },
      ]),
    );
    await keys.click(screen.getByTestId('composer'));
    await keys.keyboard('Compare{Enter}');
    const attached = await screen.findByTestId('attached');
    expect(attached).toHaveTextContent('Heating.md');
    expect(attached).toHaveTextContent('Another text of that name');
    expect(attached).not.toHaveAttribute('open');
  });

  it('has a chip of its own beside another text of its name, and is removed alone', async () => {
    const { session, keys } = await open();
    const files = ['one', 'two'].map((text) => file('a.txt', text));
    await keys.upload(screen.getByTestId('attach-files'), files);
    await keys.click(await screen.findByRole('button', { name: 'Remove a.txt (2)' }));
    expect(session.drafts.mentions).toEqual([{ type: 'file', name: 'a.txt', text: 'one' }]);
    expect(screen.getByTestId('chips')).toHaveTextContent(/^\s*a\.txt\s*$/);
  });

  it('is attached where it is dropped or pasted, and in no other place', async () => {
    const { session, box } = await open();
    const drop = createEvent.drop(box);
    Object.assign(drop, { dataTransfer: { files: [file('a.txt', 'a')], types: ['Files'] } });
    await fireEvent(box, drop);
    expect(drop.defaultPrevented).toBe(true);
    const paste = createEvent.paste(box);
    Object.assign(paste, { clipboardData: { files: [file('b.txt', 'b')] } });
    await fireEvent(box, paste);
    await waitFor(() => expect(session.drafts.mentions).toHaveLength(2));
    const beside = createEvent.drop(screen.getByTestId('chat-log'));
    Object.assign(beside, { dataTransfer: { files: [file('c.txt', 'c')], types: ['Files'] } });
    await fireEvent(screen.getByTestId('chat-log'), beside);
    expect(beside.defaultPrevented, 'the window stays').toBe(true);
    expect(session.drafts.mentions).toHaveLength(2);
  });

  it('that is a private note of the vault is not attached, nor is its name', async () => {
    const { host, session, keys } = await open();
    const { text } = (await host.readNote('Diary/2025-11-30.md')).content;
    await keys.upload(screen.getByTestId('attach-files'), [file('2025-11-30.md', text)]);
    const words = /^2025-11-30\.md is a private note/;
    await waitFor(() => expect(session.app.problems[0]?.error.message).toMatch(words));
    expect(session.drafts.mentions).toEqual([]);
  });

  it('that is a private note is recognized by its name and text however they are encoded', async () => {
    const path = 'Diary/Cafe\u0301.md';
    const { host, session, keys } = await open({}, { [path]: 'never' });
    host.write(path, '\uFEFFThe key lies under the stone.');
    await keys.upload(screen.getByTestId('attach-files'), [
      file('Caf\u00E9.md', 'The key lies under the stone.'),
      file('Caf\u00E9.md', '\uFEFFThe key lies under the stone.'),
      file('Caf\u00E9.md', 'Another text'),
    ]);
    const another = { type: 'file', name: 'Caf\u00E9.md', text: 'Another text' };
    await waitFor(() => expect(session.drafts.mentions, 'the control').toEqual([another]));
    const words = /^Caf\u00E9\.md is a private note/;
    expect(session.app.problems[0]?.error.message).toMatch(words);
  });

  it('that is a private note is recognized behind many notes of its name', async () => {
    const path = 'Z/README.md';
    const { host, session, keys } = await open({}, { [path]: 'never' });
    for (let number = 0; number < 60; number += 1) host.write(`A ${number}/README.md`, 'Read me.');
    host.write(path, 'The key lies under the stone.');
    expect((await host.findNames('README')).more, 'the control').toBe(true);
    await keys.upload(screen.getByTestId('attach-files'), [
      file('README.md', 'The key lies under the stone.'),
      file('README.md', 'Another text'),
    ]);
    const another = { type: 'file', name: 'README.md', text: 'Another text' };
    await waitFor(() => expect(session.drafts.mentions, 'the control').toEqual([another]));
    expect(session.app.problems[0]?.error.message).toMatch(/^README\.md is a private note/);
  });

  it.each([
    ['photo.png', new Uint8Array([0x89, 0x50, 0x00, 0xff]), /photo\.png isn’t a text file/],
    ['long.txt', 'x'.repeat(65_537), /long\.txt is larger than/],
    ['empty.txt', ' \n', /empty\.txt is empty/],
  ])('is refused in a sentence: %s', async (name, text, words) => {
    const { session, keys } = await open();
    await keys.upload(screen.getByTestId('attach-files'), [file(name, text)]);
    await waitFor(() => expect(session.app.problems[0]?.error.message).toMatch(words));
    expect(session.drafts.mentions).toEqual([]);
  });
});
