import { beforeEach, describe, expect, it, vi } from 'vitest';

import type { ConversationId, Settings } from '../../src/ipc/bindings';
import type { Host } from '../../src/ipc/host';
import { Session } from '../../src/state/session.svelte';
import { FakeHost } from '../fake/host';
import { stories } from '../fake/stories';
import { chat } from '../fake/stories/chat/chat';
import type { Story } from '../fake/story';
import { vaultAt } from '../fake/view';

let host: FakeHost;
let session: Session;

async function play(story: string, change: (story: Story) => Story = (same) => same) {
  const tell = stories[story];
  if (!tell) throw new Error(`no story ${story}`);
  host = new FakeHost(change(tell()));
  session = new Session(host);
  await session.start();
}

beforeEach(() => play('chat'));

describe('starting', () => {
  it('opens the newest conversation', () => {
    expect(session.app.chat?.id).toBe('groceries');
    expect(session.firstRun).toBe(false);
  });

  it('leads through the first run without a vault', async () => {
    await play('first-run');
    expect(session.firstRun).toBe(true);
    await session.openSample();
    expect(session.app.vault?.sample).toBe(true);
    expect(session.firstRun).toBe(true);
    await session.begin('help');
    expect(session.firstRun).toBe(false);
    expect(host.asked('sendMessage')).toEqual([
      { conversation: null, text: 'help', answers: null, openNote: null },
    ]);
    expect(session.app.chat?.items).toHaveLength(1);
  });

  it('subscribes again when another vault was opened', async () => {
    const before = host.asked('subscribe').length;
    await session.chooseVault();
    expect(session.app.vault?.folder).toBe('Documents/Notebook');
    expect(host.asked('subscribe').length).toBeGreaterThan(before);
  });

  it('asks about the vault that it shows until another one is in front of the user', async () => {
    const before = session.app.vault;
    expect(host.vaultAsked).toBe(before?.id);
    const other = { ...vaultAt('/terminal-sentences', false), id: 'another' };
    const subscribed = host.subscribe.bind(host);
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    host.subscribe = async (receive) => {
      await gate;
      return { ...(await subscribed(receive)), vault: other };
    };
    host.tell({ type: 'vault_changed', vault: other });
    expect(session.app.chat?.id).toBe('groceries');
    expect(host.vaultAsked).toBe(before?.id);
    open();
    await expect.poll(() => host.vaultAsked).toBe('another');
    expect(session.app.shown).toBe('another');
  });

  it('leaves nothing of the vault before', async () => {
    await session.spending.look();
    expect(session.spending.months).not.toBeNull();
    session.answerSaver.naming = { answer: 'm-1', name: 'Soup', taken: null };
    const request = { message: 'm-1', text: null, old: null };
    const notes = { changed: 1, waiting: 0, earlier: false };
    session.turnActions.old = { request, conversation: 'groceries', ...notes };
    await session.trashed.look('Pantry.md');
    const read = host.readNote.bind(host);
    let arrive = (): void => undefined;
    host.readNote = async (path) => {
      await new Promise<void>((resolve) => (arrive = resolve));
      return await read(path);
    };
    const late = session.trashed.look('Late.md');
    host.refusals.set('monthlyCosts', { code: 'other', message: 'Not now.' });
    await session.openSample();
    arrive();
    await late;
    expect(session.answerSaver.naming).toBeNull();
    expect(session.turnActions.old).toBeNull();
    expect([...session.trashed.known.keys()]).toEqual([]);
    expect(session.spending.months).toBeNull();
  });

  it('asks nothing about a name of the vault before', async () => {
    let [isAsked, arrive] = [false, (): void => undefined];
    host.privateNote = async () => {
      isAsked = true;
      await new Promise<void>((resolve) => (arrive = resolve));
      return 'never';
    };
    session.openNew();
    session.draft = 'Look';
    session.drafts.attach({ type: 'note', path: 'House/Heating.md', link: 'Heating' });
    const sending = session.send();
    await vi.waitFor(() => expect(isAsked).toBe(true));
    await session.openSample();
    session.openNew();
    arrive();
    await sending;
    expect(session.drafts.asked).toBeNull();
  });

  it('sends a message to the vault that it was written in', async () => {
    session.draft = 'hello';
    await session.send();
    expect(host.sentTo).toEqual(['notebook']);
  });

  it('says that the application does not answer', async () => {
    const silent = new FakeHost(chat());
    silent.refusals.set('subscribe', new Error('no one is there'));
    const lost = new Session(silent);
    await lost.start();
    expect(lost.app.ready).toBe(false);
    expect(lost.app.problems[0]?.error.message).toBe('no one is there');
  });
});

describe('a question', () => {
  beforeEach(() => play('question'));

  it('is answered by what is sent', async () => {
    session.draft = 'The later one';
    await session.send();
    expect(host.asked('sendMessage')).toEqual([
      { conversation: 'trieste', text: 'The later one', answers: 'question-1', openNote: null },
    ]);
    expect(session.app.chat?.question).toBeNull();
  });

  it('is answered by one of its options', async () => {
    await session.choose('Leave the way there open for now');
    expect(host.asked('sendMessage')).toEqual([
      {
        conversation: 'trieste',
        text: 'Leave the way there open for now',
        answers: 'question-1',
        openNote: null,
      },
    ]);
  });

  it('is not answered by a message that is no answer, and only that one', async () => {
    session.notAnAnswer = true;
    session.draft = 'What is the weather?';
    await session.send();
    expect(host.asked('sendMessage')).toEqual([
      { conversation: 'trieste', text: 'What is the weather?', answers: null, openNote: null },
    ]);
    expect(session.notAnAnswer).toBe(false);
  });

  it('is not answered either when other things stand in its conversation meanwhile', async () => {
    let shown = 0;
    const show = session.app.show.bind(session.app);
    session.app.show = (view, expected) => {
      shown += 1;
      return show(view, expected);
    };
    session.notAnAnswer = true;
    session.draft = 'What is the weather?';
    host.tell({ type: 'chat_changed', conversation: 'trieste' });
    await expect.poll(() => shown).toBe(1);
    expect(session.notAnAnswer).toBe(true);
    // The draft is kept while the conversation is left, and so is the choice.
    session.openNew();
    expect(session.notAnAnswer).toBe(false);
    await session.open('trieste');
    await session.send();
    expect(host.asked('sendMessage')).toMatchObject([
      { text: 'What is the weather?', answers: null },
    ]);
  });

  it('that is asked next is answered by what is sent', async () => {
    session.notAnAnswer = true;
    const question = session.app.chat?.question;
    if (!question) throw new Error('there is no question');
    const next = { ...question, id: 'question-2' };
    host.tell({ type: 'question_changed', conversation: 'trieste', question: next });
    expect(session.notAnAnswer).toBe(false);
    session.draft = 'The later one';
    await session.send();
    expect(host.asked('sendMessage')).toMatchObject([{ answers: 'question-2' }]);
  });
});

describe('a review', () => {
  beforeEach(() => play('review'));

  it('sends each decision and omits undecided notes', async () => {
    session.openReview();
    session.app.chat?.reviewDecisions.decide('Projects/Harbour Library.md', 'accept');
    session.app.chat?.reviewDecisions.decide('Letters/Invitation.md', 'reject');
    await session.decide();
    expect(host.asked('decideReview')).toEqual([
      {
        review: 'review-1',
        notes: [
          {
            path: 'Projects/Harbour Library.md',
            seen: expect.any(String),
            decision: { type: 'accept' },
          },
          { path: 'Letters/Invitation.md', seen: expect.any(String), decision: { type: 'reject' } },
        ],
      },
    ]);
    expect(session.place).toEqual({ name: 'chat' });
    expect(session.app.chat?.review?.notes.map((note) => note.path)).toEqual([
      'Projects/Reading room, opening plan.md',
    ]);
  });

  it('asks nothing while nothing is decided', async () => {
    session.openReview();
    await session.decide();
    expect(host.asked('decideReview')).toEqual([]);
    expect(session.place).toEqual({ name: 'review' });
  });

  it.each<[string, () => Promise<void> | void]>([
    [
      'its conversation is deleted',
      () => host.tell({ type: 'conversation_gone', conversation: 'harbour' }),
    ],
    [
      'it is decided elsewhere',
      () => host.tell({ type: 'review_changed', conversation: 'harbour', review: null }),
    ],
    ['another vault is opened', () => session.openSample()],
  ])('gives way to the chat when %s', async (_, lose) => {
    session.openReview();
    expect(session.place.name).toBe('review');
    await lose();
    expect(session.place).toEqual({ name: 'chat' });
  });

  it('that is there again later does not replace what is written meanwhile', async () => {
    const review = session.app.chat?.review ?? null;
    session.openReview();
    host.tell({ type: 'review_changed', conversation: 'harbour', review: null });
    host.tell({ type: 'review_changed', conversation: 'harbour', review });
    expect(session.app.chat?.review).not.toBeNull();
    expect(session.place).toEqual({ name: 'chat' });
  });

  it('stays open when it could not be applied', async () => {
    session.openReview();
    session.app.chat?.reviewDecisions.acceptAll();
    host.refusals.set('decideReview', { code: 'write', message: 'No space left.' });
    await session.decide();
    expect(session.place).toEqual({ name: 'review' });
    expect(session.app.problems[0]?.error.message).toBe('No space left.');
  });
});

describe('a key', () => {
  it('may lie elsewhere when there is no keyring, and that is not a problem', async () => {
    host.refusals.set('setKey', { code: 'key', message: 'No keyring.' });
    expect(await session.provider.setKey('secret', 'keyring')).toMatchObject({
      state: 'elsewhere',
    });
    expect(session.app.problems).toEqual([]);
    expect(await session.provider.setKey('secret', 'file')).toEqual({ state: 'kept' });
    expect(session.app.provider.keySource).toBe('file');
  });
});

describe('a note', () => {
  it('is shown for a link with a heading', async () => {
    await session.showNote('Pantry#Dry');
    expect(session.app.note?.path).toBe('Pantry.md');
  });

  it('is read again with a new snapshot', async () => {
    await session.showNote('Pantry#Dry');
    await session.start();
    expect(host.asked('showNote')).toEqual(['Pantry.md', 'Pantry.md']);
    expect(session.app.note?.path).toBe('Pantry.md');
  });

  /** The first note that is shown comes when this is called. */
  function holdFirst(): () => void {
    let arrive = (): void => undefined;
    const gate = new Promise<void>((resolve) => (arrive = resolve));
    const show = host.showNote.bind(host);
    host.showNote = async (path, by) => {
      host.showNote = show;
      const note = await show(path, by);
      await gate;
      return note;
    };
    return () => arrive();
  }

  it('that is closed before it comes stays closed', async () => {
    await session.showNote('Pantry');
    const arrive = holdFirst();
    const shown = session.showNote('Pantry#Dry');
    await session.note.close();
    arrive();
    await shown;
    expect(session.app.note).toBeNull();
    // The control: it can be opened again.
    await session.showNote('Pantry');
    expect(session.app.note?.path).toBe('Pantry.md');
  });

  it('that comes late does not replace the one that was opened after it', async () => {
    host.write('Late.md', 'words');
    const arrive = holdFirst();
    const late = session.showNote('Late');
    await session.showNote('Pantry');
    arrive();
    await late;
    expect(session.app.note?.path).toBe('Pantry.md');
  });

  it('of the vault before goes with it', async () => {
    await session.showNote('Pantry');
    await session.openSample();
    expect(session.app.note).toBeNull();
  });

  it('that is not there is a problem', async () => {
    await session.showNote('Nowhere');
    expect(session.app.note).toBeNull();
    expect(session.app.problems[0]?.error.message).toContain('Nowhere');
  });
});

describe('a long conversation', () => {
  const count = 1_000;
  const keys = (): string[] =>
    (session.app.chat?.items ?? []).map((item) => ('id' in item ? item.id : ''));
  const long = (story: Story): Story => {
    const [first] = story.views;
    if (!first) throw new Error('no conversation');
    const items = Array.from({ length: count }, (_, at) => {
      return {
        type: 'assistant',
        id: `m${at}`,
        text: 'Words',
        streaming: false,
        cut: false,
      } as const;
    });
    return { ...story, views: [{ ...first, items }, ...story.views.slice(1)] };
  };
  /** The sizes in which it stood in front of the user. */
  async function opening(meanwhile: () => void = () => undefined): Promise<number[]> {
    await play('chat', long);
    session.openNew();
    const sizes: number[] = [];
    const show = session.app.show.bind(session.app);
    session.app.show = (view, expected) => {
      const shown = show(view, expected);
      sizes.push(keys().length);
      return shown;
    };
    const read = host.openConversation.bind(host);
    host.openConversation = async (conversation, whole) => {
      const view = await read(conversation, whole);
      // It was read, and is on its way.
      if (whole) meanwhile();
      return view;
    };
    await session.open('groceries');
    return sizes;
  }

  it('comes with its end first, and the rest at once behind it', async () => {
    expect(await opening()).toEqual([200, count]);
    expect(keys()).toEqual(Array.from({ length: count }, (_, at) => `m${at}`));
  });

  it('loses nothing that comes before the rest is there', async () => {
    const item = { type: 'assistant', id: 'new', text: '', streaming: true, cut: false } as const;
    await opening(() => {
      host.tell({ type: 'item_changed', conversation: 'groceries', item });
      host.tell({ type: 'text_added', conversation: 'groceries', id: 'new', text: 'Fresh' });
    });
    expect(keys()).toHaveLength(count + 1);
    expect(session.app.chat?.items.at(-1)).toMatchObject({ id: 'new', text: 'Fresh' });
  });

  it('gives way to what the user begins before the rest is there', async () => {
    expect(await opening(() => session.openNew())).toEqual([200, 0]);
    expect(session.app.chat).toBeNull();
  });

  it('is not cut down to its end when other things stand in it', async () => {
    expect(await opening()).toEqual([200, count]);
    host.tell({ type: 'chat_changed', conversation: 'groceries' });
    await Promise.resolve();
    expect(keys()).toHaveLength(count);
  });
});

describe('settings that are changed', () => {
  const never = { never: ['Diary'] };
  /** Each is told long after it was saved. */
  function tellLate(): () => void {
    const late: (() => void)[] = [];
    const tell = host.tell.bind(host);
    host.tell = (...events) => void late.push(() => tell(...events));
    return () => {
      for (const one of late) one();
    };
  }
  const change = { ...chat().snapshot.settings.private, ...never };

  it('one right after the other are all saved, however late they are told', async () => {
    const tell = tellLate();
    await Promise.all([
      session.save({ private: change }),
      session.save({ mode: 'read_only' }),
      session.save({ theme: 'dark' }),
    ]);
    const all = { private: change, mode: 'read_only', theme: 'dark' };
    expect(host.asked('saveSettings').at(-1)).toMatchObject(all);
    expect(session.app.settings).toMatchObject(all);
    tell();
    expect(session.app.settings).toMatchObject(all);
  });

  it.each<[string, keyof Host, (conversation: ConversationId) => Promise<unknown>]>([
    ['is sent', 'sendMessage', () => session.send()],
    ['is regenerated', 'regenerate', () => session.turnActions.regenerate('m-1', null)],
    ['goes on', 'continueTurn', () => session.turnActions.goOn()],
    ['is summarized', 'compactConversation', (row) => session.turnActions.summarize(row)],
    ['is described', 'writeDescription', () => session.hubDescription.write()],
  ])('count for what %s after them, however long they take', async (_, call, act) => {
    const [row] = session.app.conversations;
    if (!row) throw new Error('there is no conversation');
    await session.open(row.id);
    let arrive = (): void => undefined;
    const save = host.saveSettings.bind(host);
    host.saveSettings = async (settings) => {
      await new Promise<void>((resolve) => (arrive = resolve));
      return await save(settings);
    };
    const saved = session.save({ private: change });
    session.draft = 'What does the diary say?';
    const acted = act(row.id);
    await new Promise((resolve) => setTimeout(resolve));
    expect(host.asked(call)).toEqual([]);
    arrive();
    await Promise.all([saved, acted]);
    const order = host.calls
      .map(([name]) => name)
      .filter((name) => /^save/.test(name) || name === call);
    expect(order).toEqual(['saveSettings', call]);
  });

  it('leave alone what is changed elsewhere, before and while they are on their way', async () => {
    const seen = session.app.settings;
    const elsewhere = { ...seen, private: { ...seen.private, never: ['By hand'] } };
    const asked: [Settings, Settings][] = [];
    const asHost: Host = host;
    asHost.saveSettings = (settings, before) => {
      asked.push([settings, before]);
      // The application has read the file by then, and answers with what it holds.
      const saved: Settings = { ...elsewhere, theme: 'dark' };
      host.tell({ type: 'settings_changed', settings: saved, trouble: null });
      return Promise.resolve(seen);
    };
    await session.save({ theme: 'dark' });
    expect(asked).toEqual([[{ ...seen, theme: 'dark' }, seen]]);
    expect(session.app.settings).toEqual({ ...elsewhere, theme: 'dark' });
  });

  it('are shown while they are on their way, and reverted where they are refused', async () => {
    const { theme } = session.app.settings;
    host.refusals.set('saveSettings', { code: 'other', message: 'The disk is full.' });
    const refused = session.save({ theme: 'dark' });
    expect(session.app.settings.theme).toBe('dark');
    await refused;
    expect(session.app.settings.theme).toBe(theme);
    expect(session.app.problems[0]?.error.message).toBe('The disk is full.');
    host.refusals.clear();
    await session.save({ mode: 'read_only' });
    expect(host.asked('saveSettings').at(-1)).toMatchObject({ theme, mode: 'read_only' });
  });
});
