import { beforeEach, describe, expect, it } from 'vitest';

import { Session } from '../../src/state/session.svelte';
import { FakeHost } from '../fake/host';
import { chat } from '../fake/stories/chat/chat';
import { question } from '../fake/stories/chat/question';

let host: FakeHost;
let session: Session;

beforeEach(async () => {
  host = new FakeHost(chat());
  session = new Session(host);
  await session.start();
});

describe('sending', () => {
  it('goes to the open conversation and clears the draft once it is stored', async () => {
    session.draft = '  And a dessert?  ';
    await session.send();
    expect(host.asked('sendMessage')).toEqual([
      { conversation: 'groceries', text: 'And a dessert?', answers: null, openNote: null },
    ]);
    expect(session.draft).toBe('');
  });

  it('tells a refusal until the user leaves the view', async () => {
    const refuse = async () => {
      host.refusals.set('selectInNote', { code: 'other', message: 'The note is gone.' });
      await session.note.select('Pantry.md', 'words', null);
      return session.app.problems.map(({ error }) => error.message);
    };
    expect(await refuse()).toEqual(['The note is gone.']);
    session.backToChat();
    expect(session.app.problems).toHaveLength(1);
    session.openSettings();
    expect(session.app.problems).toEqual([]);
    await refuse();
    session.openSettings('hub');
    expect(session.app.problems).toHaveLength(1);
    session.backToChat();
    expect(session.app.problems).toEqual([]);
    await refuse();
    session.openNew();
    expect(session.app.problems).toEqual([]);
    await refuse();
    await session.open('groceries');
    expect(session.app.problems).toEqual([]);
  });

  it('tells a problem of the application until it is dismissed, and why a view could not be opened', async () => {
    host.tell({ type: 'problem', error: { code: 'write', message: 'The disk is full.' } });
    session.openSettings();
    host.refusals.set('openConversation', { code: 'other', message: 'It is gone.' });
    await session.open('passport');
    const told = session.app.problems.map(({ error }) => error.message);
    expect(told).toEqual(['The disk is full.', 'It is gone.']);
  });

  it('keeps the text when it could not be stored', async () => {
    session.draft = 'Do not lose me';
    host.refusals.set('sendMessage', { code: 'write', message: 'The disk is full.' });
    await session.send();
    expect(session.draft).toBe('Do not lose me');
    expect(session.app.problems[0]?.error).toEqual({ code: 'write', message: 'The disk is full.' });
  });

  it('keeps the text that was typed while the message was being stored', async () => {
    session.draft = 'First';
    const sending = session.send();
    session.draft = 'First and a second thought';
    await sending;
    expect(session.draft).toBe('and a second thought');
  });

  it('keeps what is typed while the first message makes its conversation', async () => {
    session.openNew();
    session.draft = 'First';
    const sending = session.send();
    session.draft = 'First and a second thought';
    await sending;
    expect(session.app.chat?.id).toBeTruthy();
    expect(session.draft).toBe('and a second thought');
    session.openNew();
    expect(session.draft).toBe('');
  });

  /** A first message, after which this happens while its conversation is on its way to the window. */
  async function begin(text: string, meanwhile: () => void): Promise<void> {
    const read = host.openConversation.bind(host);
    host.openConversation = async (conversation, whole) => {
      const view = await read(conversation, whole);
      meanwhile();
      return view;
    };
    session.openNew();
    session.draft = text;
    await session.send();
    host.openConversation = read;
  }

  it('keeps what is typed until the conversation of the first message is shown', async () => {
    const shown: string[] = [];
    const show = session.app.show.bind(session.app);
    session.app.show = (view, expected) => {
      // Whatever draws the window next finds the text in the new conversation.
      queueMicrotask(() => shown.push(session.draft));
      return show(view, expected);
    };
    await begin('First', () => (session.draft = 'and a second '));
    expect(session.app.chat?.id).toMatch(/^new-/);
    expect(session.draft).toBe('and a second ');
    expect(shown).toEqual(['and a second ']);
    session.openNew();
    expect(session.draft).toBe('');
  });

  it('attaches a file that is still being read to the conversation of the first message', async () => {
    session.openNew();
    session.draft = 'First';
    const file = new File([], 'list.txt');
    let read: (text: string) => void = () => undefined;
    file.text = () => new Promise((resolve) => (read = resolve));
    const attaching = session.drafts.attachFiles([file]);
    await session.send();
    expect(session.app.chat?.id).toMatch(/^new-/);
    read('words');
    await attaching;
    expect(session.drafts.mentions).toEqual([{ type: 'file', name: 'list.txt', text: 'words' }]);
    session.openNew();
    expect(session.drafts.mentions).toEqual([]);
  });

  it('has every file that was attached, also of one name, and the same one once', async () => {
    const file = (text: string): File => new File([text], 'list.txt');
    await session.drafts.attachFiles([file('milk'), file('bread'), file('milk')]);
    const [bread, milk] = ['bread', 'milk'].map((text) => ({
      type: 'file',
      name: 'list.txt',
      text,
    }));
    expect(session.drafts.mentions).toEqual([bread, milk]);
    session.draft = 'Which of these?';
    const sending = session.send();
    await session.drafts.attachFiles([file('eggs')]);
    await sending;
    const [first, second] = ['list.txt\n```\nbread', 'list.txt (2)\n```\nmilk'];
    const text = `Which of these?\n\nAttached file: ${first}\n\`\`\`\n\nAttached file: ${second}\n\`\`\``;
    expect(host.asked('sendMessage')).toMatchObject([{ text }]);
    // One more of the name came while the message was being stored: it is for the next one.
    expect(session.drafts.mentions).toMatchObject([{ text: 'eggs' }]);
    session.drafts.drop({ type: 'file', name: 'list.txt', text: 'milk' });
    expect(session.drafts.mentions, 'another text').toHaveLength(1);
    session.drafts.drop({ type: 'file', name: 'list.txt', text: 'eggs' });
    expect(session.drafts.mentions).toEqual([]);
  });

  it('leaves the draft of a new conversation alone when its first message was not of it', async () => {
    session.openNew();
    session.draft = 'For a new one';
    await session.open('groceries');
    session.draft = 'For this one';
    await session.send();
    session.openNew();
    expect(session.draft).toBe('For a new one');
  });

  it('joins what is typed in a new conversation that the user opens before the window does', async () => {
    session.openNew();
    session.draft = 'First';
    const send = host.sendMessage.bind(host);
    host.sendMessage = async (request, vault) => {
      const conversation = await send(request, vault);
      session.draft = 'First and a second';
      await session.open(conversation);
      session.draft = 'And a third';
      return conversation;
    };
    await session.send();
    expect(session.draft).toBe('and a second\nAnd a third');
    session.openNew();
    expect(session.draft).toBe('');
  });

  it('leaves a text alone that replaced the sent one', async () => {
    session.draft = 'First';
    const sending = session.send();
    session.draft = 'Something else';
    await sending;
    expect(session.draft).toBe('Something else');
  });

  it('leaves the draft alone when an option of a question is chosen', async () => {
    host = new FakeHost(question());
    session = new Session(host);
    await session.start();
    const [option = ''] = session.app.chat?.question?.options ?? [];
    const draft = `${option}, or rather a later one?`;
    session.draft = draft;
    await session.choose(option);
    expect(host.asked('sendMessage')).toMatchObject([{ text: option, answers: 'question-1' }]);
    expect(session.draft).toBe(draft);
  });

  it('sends once, however often Enter is pressed', async () => {
    session.draft = 'Once';
    await Promise.all([session.send(), session.send()]);
    expect(host.asked('sendMessage')).toHaveLength(1);
  });

  it('sends nothing when there is no text', async () => {
    session.draft = ' \n ';
    await session.send();
    expect(host.asked('sendMessage')).toEqual([]);
  });

  it('opens the conversation that a first message began', async () => {
    session.openNew();
    session.draft = 'Something new';
    await session.send();
    expect(session.app.chat?.id).toMatch(/^new-/);
    expect(session.app.current?.title).toBe('Something new');
  });

  it('keeps a draft for each conversation', async () => {
    session.draft = 'For this one';
    session.openNew();
    expect(session.draft).toBe('');
    await session.open('groceries');
    expect(session.draft).toBe('For this one');
  });
});
