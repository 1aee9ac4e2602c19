import { beforeEach, describe, expect, it } from 'vitest';

import type {
  AppEvent,
  ChatItem,
  Conversation,
  ModelWait,
  NumberedEvent,
  Question,
} from '../../src/ipc/bindings';
import { AppState } from '../../src/state/app.svelte';
import { noteText } from '../fake/note-text';
import { healthy, row, view } from '../fake/stories/base';

const conversation = row('c', 'A conversation');

function assistant(text: string, streaming = true): ChatItem {
  return { type: 'assistant', id: 'a', text, streaming, cut: false };
}

function changed(item: ChatItem): AppEvent {
  return { type: 'item_changed', conversation: 'c', item };
}

function added(text: string): AppEvent {
  return { type: 'text_added', conversation: 'c', id: 'a', text };
}

function waits(wait: ModelWait | null): AppEvent {
  return { type: 'wait_changed', conversation: 'c', wait };
}

function numbered(first: number, ...events: AppEvent[]): NumberedEvent[] {
  return events.map((event, index) => ({ seq: first + index, event }));
}

/** The announcements for a screen reader. */
function announced(): string[] {
  return app.announcements.map(({ text }) => text);
}

const asked: Question = {
  id: 'q',
  conversation: 'c',
  turn: 't',
  call: 'k',
  originalMessage: 'm',
  text: 'Which one?',
  options: [],
  toolCallsCompleted: 0,
  askedAt: 0,
};

let app: AppState;

beforeEach(() => {
  app = new AppState();
  app.restore({ ...healthy([conversation]), seq: 10 });
});

/** Puts the conversation in front, as it was at this number. */
function open(seq: number, items: ChatItem[] = [], meanwhile: NumberedEvent[] = []): void {
  const expected = app.expect('c');
  app.receive(meanwhile);
  app.show({ ...view(conversation, items), seq }, expected);
}

describe('the title of a conversation', () => {
  it('is a text, wherever the row comes from', () => {
    const marked = row('m', 'Move it to [[Lists/Pantry|the pantry]], **today**');
    app.restore({ ...healthy([marked]), seq: 10 });
    const titles = () => app.conversations.map(({ title }) => title);
    expect(titles()[0]).toBe('Move it to the pantry, today');
    const other = row('n', '## A *new* one');
    app.receive(numbered(11, { type: 'conversation_changed', conversation: other }));
    expect(titles()).toContain('A new one');
    app.addRows([row('o', '`code`', { updatedAt: 0 })]);
    expect(titles()).toContain('code');
  });
});

describe('a conversation that is deleted', () => {
  it('leaves the list, and gives way to a new one where it was open', () => {
    open(10);
    app.receive(numbered(11, { type: 'conversation_gone', conversation: 'c' }));
    expect(app.conversations).not.toContainEqual(conversation);
    expect(app.chat).toBeNull();
    app.receive(numbered(12, { type: 'conversation_changed', conversation }));
    expect(app.conversations).toContainEqual(conversation);
  });
});

describe('the note beside the chat', () => {
  const changedTo = (text: string | null, path = 'Pantry.md'): AppEvent => ({
    type: 'note_changed',
    path,
    content: text === null ? null : noteText(text),
  });
  const read = (seq: number, path: string, text: string) => ({
    seq,
    path,
    content: noteText(text),
  });
  const shown = (text: string, removed: boolean) => ({
    path: 'Pantry.md',
    content: noteText(text),
    removed,
  });

  it('has its newest text', () => {
    app.showNote(read(10, 'Pantry.md', 'old'));
    app.receive(numbered(11, changedTo('other', 'Soup.md'), changedTo('new')));
    expect(app.note).toEqual(shown('new', false));
  });

  it('keeps its last text when it is removed, says so once, and may come back', () => {
    app.showNote(read(10, 'Pantry.md', 'old'));
    app.receive(numbered(11, changedTo(null)));
    expect(app.note).toEqual(shown('old', true));
    expect(announced().at(-1)).toContain('was deleted or renamed');
    app.receive(numbered(12, changedTo('new')));
    expect(app.note).toEqual(shown('new', false));
  });

  it('takes a change that came before it, unless it holds that already', () => {
    app.receive(numbered(11, changedTo('newer')));
    app.showNote(read(10, 'Pantry.md', 'old'));
    expect(app.note?.content.text).toBe('newer');
    app.showNote(read(11, 'Pantry.md', 'newest'));
    expect(app.note?.content.text).toBe('newest');
    app.showNote(read(10, 'Soup.md', 'soup'));
    expect(app.note?.content.text).toBe('soup');
  });

  it('does not come back when it was closed', () => {
    app.showNote(read(10, 'Pantry.md', 'old'));
    app.closeNote();
    app.receive(numbered(11, changedTo('new')));
    expect(app.note).toBeNull();
  });
});

describe('the feed', () => {
  it('drops what the snapshot holds already', () => {
    const hub = { state: 'online', trouble: null, retryAt: null, ignored: 0 } as const;
    app.receive([{ seq: 10, event: { type: 'hub_changed', hub } }]);
    expect(app.hub.state).toBe('off');
    app.receive([{ seq: 11, event: { type: 'hub_changed', hub } }]);
    expect(app.hub.state).toBe('online');
  });

  it('replaces an item that has the same id and keeps the order', () => {
    open(10);
    const tool = {
      type: 'tool',
      at: 0,
      turn: 't',
      call: 'x',
      tool: 'read_file',
      arguments: '{}',
      output: null,
      isError: false,
      reactions: [],
    } as const;
    app.receive(numbered(11, changed({ ...tool, reactions: [] }), changed(assistant('Hello'))));
    app.receive(numbered(13, changed({ ...tool, reactions: [], output: 'done' })));
    expect(app.chat?.items.map((item) => item.type)).toEqual(['tool', 'assistant']);
    expect(app.chat?.items[0]).toMatchObject({ output: 'done' });
  });

  it('keeps queued messages below the running turn', () => {
    const user = (id: string, queued: boolean): ChatItem => ({
      type: 'user',
      id,
      text: id,
      origin: 'window',
      at: 1_777_716_000_000,
      queued,
    });
    open(10);
    app.receive(numbered(11, changed(user('runs', false)), changed(user('waits', true))));
    app.receive(numbered(13, changed(user('waits too', true)), changed(assistant('Hello'))));
    const order = app.chat?.items.map((item) => ('text' in item ? item.text : item.type));
    expect(order).toEqual(['runs', 'Hello', 'waits', 'waits too']);
  });

  it('tells two calls with the same id in different turns apart', () => {
    open(10);
    const call = {
      type: 'tool',
      at: 0,
      call: 'x',
      tool: 'read_file',
      arguments: '{}',
      output: null,
      isError: false,
      reactions: [],
    } as const;
    app.receive(
      numbered(
        11,
        changed({ ...call, reactions: [], turn: 't1' }),
        changed({ ...call, reactions: [], turn: 't2' }),
      ),
    );
    expect(app.chat?.items).toHaveLength(2);
  });

  it('leaves the chat alone when another conversation changes', () => {
    open(10, [assistant('Hello')]);
    app.receive([
      { seq: 11, event: { type: 'text_added', conversation: 'other', id: 'a', text: '!' } },
    ]);
    expect(app.chat?.items).toEqual([assistant('Hello')]);
  });

  it('moves a conversation up when it is newer, without losing another', () => {
    const newer = { ...row('tank', 'Water tank'), updatedAt: Date.now() + 1000 };
    const before = app.conversations.length;
    app.receive([{ seq: 11, event: { type: 'conversation_changed', conversation: newer } }]);
    expect(app.conversations[0]?.id).toBe('tank');
    expect(app.conversations).toHaveLength(before);
  });
});

describe('opening a conversation while it is being written', () => {
  it('applies what came in meanwhile and the view does not hold', () => {
    open(11, [assistant('One ')], numbered(11, added('One '), added('two ')));
    app.receive(numbered(13, added('three')));
    expect(app.chat?.items).toEqual([assistant('One two three')]);
  });

  it('drops pieces that arrive late and are in the view already', () => {
    open(12, [assistant('One two ')]);
    app.receive(numbered(11, added('One '), added('two '), added('three')));
    expect(app.chat?.items).toEqual([assistant('One two three')]);
  });

  it('takes the end of a wait that is told late, for no view holds it', () => {
    const reading: ModelWait = { type: 'reading', tokens: 12_000 };
    app.receive(numbered(11, waits(reading)));
    open(14, [assistant('One ')]);
    expect(app.chat?.wait).toEqual(reading);
    app.receive(numbered(12, waits(null), changed(assistant('')), added('One ')));
    expect(app.chat?.wait).toBeNull();
    // The control: the view held these.
    expect(app.chat?.items).toEqual([assistant('One ')]);
  });

  it('drops a view that was asked for before the user went elsewhere', () => {
    const expected = app.expect('c');
    app.showNew();
    app.show(view(conversation, []), expected);
    expect(app.chat).toBeNull();
  });

  it('loses nothing of two views that are on their way at once, whichever comes first', () => {
    const early = app.expect('c');
    app.receive(numbered(11, changed(assistant('One '))));
    const late = app.expect('c');
    app.receive(numbered(12, added('two')));
    app.show({ ...view(conversation, []), seq: 10 }, early);
    expect(app.chat?.items).toEqual([assistant('One two')]);
    app.show({ ...view(conversation, [assistant('One ')]), seq: 11 }, late);
    expect(app.chat?.items).toEqual([assistant('One two')]);

    const [older, newer] = [app.expect('c'), app.expect('c')];
    app.receive(numbered(13, added(' three')));
    app.show({ ...view(conversation, [assistant('One two three')]), seq: 13 }, newer);
    app.show({ ...view(conversation, [assistant('One two')]), seq: 12 }, older);
    expect(app.chat?.items).toEqual([assistant('One two three')]);
  });
});

describe('a conversation that is fetched twice at once', () => {
  const shown = (text: string, seq: number, expected = app.expect('c')) =>
    app.show({ ...view(conversation, [assistant(text, false)]), seq }, expected);

  it('is as in the newer view, whichever comes last', () => {
    const [older, newer] = [app.expect('c'), app.expect('c')];
    // No event holds what stands in another version.
    expect(shown('Second version', 13, newer)).toBe(true);
    expect(shown('First version', 12, older)).toBe(false);
    expect(app.chat?.items).toEqual([assistant('Second version', false)]);
    // The control: a view that is as new as the one before is shown.
    expect(shown('Third version', 13)).toBe(true);
    expect(app.chat?.items).toEqual([assistant('Third version', false)]);
  });

  it('is shown in an older view where another one is open', () => {
    expect(shown('First version', 13)).toBe(true);
    app.showNew();
    expect(shown('First version', 12)).toBe(true);
    expect(app.chat?.items).toEqual([assistant('First version', false)]);
  });
});

describe('announcements', () => {
  const ends = (change: Partial<Conversation> = {}): AppEvent => {
    return { type: 'conversation_changed', conversation: { ...conversation, ...change } };
  };

  it('come when the turn has ended, not with its tokens or its steps', () => {
    open(10);
    app.receive(numbered(11, ends({ working: true })));
    app.receive(numbered(12, changed(assistant('')), added('Hello')));
    app.receive(numbered(14, changed(assistant('Hello', false))));
    expect(announced()).toEqual([]);
    app.receive(numbered(15, ends(), ends({ title: 'Another name' })));
    expect(announced()).toEqual(['Answer finished']);
  });

  it('say how it ended when it did not end well', () => {
    open(10);
    const error = { code: 'other', message: 'Nobody answers.' } as const;
    const item: ChatItem = { type: 'ended', turn: 't', status: 'failed', error, offer: null };
    app.receive(numbered(11, ends({ working: true }), changed(item), ends()));
    expect(announced()).toEqual(['Couldn’t finish the answer: Nobody answers.']);
  });

  it('tell the end of an answer that a queued message follows at once', () => {
    const words = (id: string, queued: boolean): AppEvent =>
      changed({ type: 'user', id, text: id, origin: 'window', at: 0, queued });
    open(10);
    app.receive(numbered(11, words('first', true), ends({ working: true }), words('first', false)));
    expect(announced()).toEqual([]);
    app.receive(numbered(14, words('next', true), added('Hel')));
    app.receive(numbered(16, changed(assistant('Hello', false)), ends({ working: true })));
    expect(announced()).toEqual([]);
    app.receive(numbered(18, words('next', false), ends({ working: true })));
    expect(announced()).toEqual(['Answer finished']);
    const item: ChatItem = {
      type: 'ended',
      turn: 't',
      status: 'cancelled',
      error: null,
      offer: null,
    };
    const stopped = 'You stopped this answer. Everything above is kept.';
    app.receive(numbered(20, words('last', true), changed(item), ends({ working: true })));
    app.receive(numbered(23, words('last', false), words('last', false)));
    expect(announced()).toEqual(['Answer finished', stopped]);
    const so: ChatItem = { type: 'assistant', id: 'b', text: 'So.', streaming: false, cut: false };
    app.receive(numbered(25, changed(so), ends()));
    app.receive(numbered(27, words('new', true), ends({ working: true }), words('new', false)));
    expect(announced()).toEqual(['Answer finished', stopped, 'Answer finished']);
  });

  it('tell it too when the conversation was loaded again in between', () => {
    const user = (id: string, queued: boolean): ChatItem => {
      return { type: 'user', id, text: id, origin: 'window', at: 0, queued };
    };
    open(10, [user('first', false), user('next', true)]);
    app.receive(numbered(11, ends({ working: true }), changed(assistant('Hello', false))));
    open(13, [user('first', false), assistant('Hello', false), user('next', true)]);
    expect(announced()).toEqual([]);
    open(14, [user('first', false), assistant('Hello', false), user('next', false)]);
    expect(announced()).toEqual(['Answer finished']);
    open(15, [user('other', false)]);
    expect(announced()).toEqual(['Answer finished']);
  });

  it('say only the question where refused calls stand behind it', () => {
    open(10);
    const ask: AppEvent = { type: 'question_changed', conversation: 'c', question: asked };
    const { id, text } = asked;
    const refused: ChatItem = {
      ...{ type: 'tool', turn: 't', call: 'k', tool: 'read_file', at: 0, arguments: '{}' },
      ...{ output: 'Wait for the answer.', isError: true, reactions: [] },
    };
    const item: ChatItem = { type: 'asked', id, text, answer: null, withdrawn: false };
    const told = [ends({ working: true }), changed(item), changed(refused), ask, ends()];
    app.receive(numbered(11, ...told));
    expect(announced()).toEqual(['Question: Which one?']);
  });

  it('are all there when several things happen at once, and twice when they happen twice', () => {
    open(10);
    const ask: AppEvent = { type: 'question_changed', conversation: 'c', question: asked };
    const { id, text } = asked;
    const item: ChatItem = { type: 'asked', id, text, answer: null, withdrawn: false };
    app.receive(numbered(11, ends({ working: true }), changed(item), ask, ask, ends()));
    expect(announced()).toEqual(['Question: Which one?', 'Question: Which one?']);
    app.receive(
      numbered(16, ends({ working: true }), changed(assistant('So.', false)), ask, ends()),
    );
    expect(announced().slice(2)).toEqual(['Question: Which one?', 'Answer finished']);
    expect(new Set(app.announcements.map(({ id: number }) => number)).size).toBe(4);
  });

  it('say a problem once, however often it is reported', () => {
    const error = { code: 'write', message: 'The disk is full.' } as const;
    app.receive(numbered(11, { type: 'problem', error }, { type: 'problem', error }));
    expect(app.problems).toHaveLength(1);
    expect(announced()).toEqual(['The disk is full.']);
  });
});
