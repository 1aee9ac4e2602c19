/** The chat after events is the chat of a conversation that is opened then, whatever part of the events a view holds. */
import { beforeEach, describe, expect, it, vi } from 'vitest';

import type {
  AppEvent,
  ChatItem,
  ItemKey,
  MessageVariant,
  NumberedEvent,
} from '../../../src/ipc/bindings';
import { AppState } from '../../../src/state/app.svelte';
import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { answered, healthy, row, view } from '../../fake/stories/base';
import { chat } from '../../fake/stories/chat/chat';

const conversation = row('c', 'A conversation');

function said(id: string, queued = false, text = id): ChatItem {
  return { type: 'user', id, text, origin: 'window', at: 1, queued };
}

function writing(id: string, text: string): ChatItem {
  return { type: 'assistant', id, text, streaming: true, cut: false };
}

function summary(id: string): ChatItem {
  return { type: 'summary', id, text: 'They talked.' };
}

const decided: ChatItem = { type: 'decision', id: 'd', applied: [], rejected: ['a.md'], at: 2 };
const cut: ChatItem = {
  type: 'ended',
  turn: 't',
  status: 'interrupted',
  error: null,
  offer: { changed: 0, waiting: 0 },
};

function changed(item: ChatItem): AppEvent {
  return { type: 'item_changed', conversation: 'c', item };
}

function replaced(
  after: ItemKey | null,
  items: ChatItem[],
  variants: MessageVariant[] = [],
): AppEvent {
  return { type: 'items_replaced', conversation: 'c', after, items, variants };
}

function key(id: string): ItemKey {
  return { type: 'message', id };
}

/** Events that belong together, and the conversation as it is when it is opened behind them. */
interface ChatStep {
  readonly events: AppEvent[];
  readonly items: ChatItem[];
  readonly variants?: MessageVariant[];
}

const start: ChatStep = { events: [], items: [] };
const [a, a2, b] = [answered('a', 'Hello'), answered('a2', 'Then'), answered('b', 'Done')];
const other: MessageVariant = { message: 'other', number: 2, count: 2 };

/** Messages wait, are changed and begin; changes are decided meanwhile; earlier turns are summarized twice; another
 * version is shown; a turn is cut, and the user leaves it. */
const steps: readonly ChatStep[] = [
  { events: [changed(said('one'))], items: [said('one')] },
  { events: [changed(writing('a', ''))], items: [said('one'), writing('a', '')] },
  {
    events: [{ type: 'text_added', conversation: 'c', id: 'a', text: 'Hello' }],
    items: [said('one'), writing('a', 'Hello')],
  },
  {
    events: [changed(said('two', true)), changed(said('three', true))],
    items: [said('one'), writing('a', 'Hello'), said('two', true), said('three', true)],
  },
  {
    events: [changed(decided)],
    items: [said('one'), writing('a', 'Hello'), decided, said('two', true), said('three', true)],
  },
  {
    events: [changed(a), changed(a2)],
    items: [said('one'), a, a2, decided, said('two', true), said('three', true)],
  },
  {
    events: [
      {
        type: 'queue_changed',
        conversation: 'c',
        queued: [said('three', true, 'Reworded'), said('four', true)],
      },
    ],
    items: [said('one'), a, a2, decided, said('three', true, 'Reworded'), said('four', true)],
  },
  {
    // It begins before the message that was typed first, and is older than the decision.
    events: [
      changed(said('four')),
      replaced(key('a2'), [said('four'), decided, said('three', true, 'Reworded')]),
    ],
    items: [said('one'), a, a2, said('four'), decided, said('three', true, 'Reworded')],
  },
  {
    events: [changed(b)],
    items: [said('one'), a, a2, said('four'), b, decided, said('three', true, 'Reworded')],
  },
  {
    events: [{ type: 'queue_changed', conversation: 'c', queued: [] }],
    items: [said('one'), a, a2, said('four'), b, decided],
  },
  {
    events: [replaced(key('a2'), [summary('s1'), said('four'), b, decided])],
    items: [said('one'), a, a2, summary('s1'), said('four'), b, decided],
  },
  {
    events: [replaced(key('b'), [summary('s2'), decided])],
    items: [said('one'), a, a2, said('four'), b, summary('s2'), decided],
  },
  {
    // In the other version only the first turn is summarized, as before.
    events: [replaced(key('a2'), [summary('s1'), decided, said('other')], [other])],
    items: [said('one'), a, a2, summary('s1'), decided, said('other')],
    variants: [other],
  },
  {
    events: [changed(cut)],
    items: [said('one'), a, a2, summary('s1'), decided, said('other'), cut],
    variants: [other],
  },
  {
    events: [
      replaced(
        key('a2'),
        [summary('s1'), decided, said('other'), { ...cut, offer: null }, said('never mind', true)],
        [other],
      ),
    ],
    items: [
      said('one'),
      a,
      a2,
      summary('s1'),
      decided,
      said('other'),
      { ...cut, offer: null },
      said('never mind', true),
    ],
    variants: [other],
  },
];

/** The events of all steps with their numbers, which follow that of the snapshot. */
function numbered(): NumberedEvent[] {
  return steps.flatMap(({ events }) => events).map((event, at) => ({ seq: 11 + at, event }));
}

/** The number of the last event of each step. */
function seqOf(step: number): number {
  return 10 + steps.slice(0, step).reduce((sum, { events }) => sum + events.length, 0);
}

let app: AppState;

beforeEach(() => {
  app = new AppState();
  app.restore({ ...healthy([conversation]), seq: 10 });
});

/** The conversation as it is opened when so many steps were taken. */
function opened(step: number) {
  const { items, variants = [] } = steps[step - 1] ?? start;
  return { ...view(conversation, items), variants, seq: seqOf(step) };
}

function expectState(step: number): void {
  const { items, variants } = opened(step);
  expect(app.chat?.items).toEqual(items);
  expect(app.chat?.variants).toEqual(variants);
  expect(app.chat?.isOutdated).toBe(false);
}

describe('the chat', () => {
  it('is after each event as it is opened then', () => {
    app.show(opened(0), app.expect('c'));
    const events = numbered();
    for (let step = 1; step <= steps.length; step += 1) {
      app.receive(events.filter(({ seq }) => seq > seqOf(step - 1) && seq <= seqOf(step)));
      expectState(step);
    }
  });

  it('is the same whichever part of the events the view holds', () => {
    for (let step = 0; step <= steps.length; step += 1) {
      app.restore({ ...healthy([conversation]), seq: 10 });
      app.showNew();
      app.show(opened(step), app.expect('c'));
      app.receive(numbered());
      expectState(steps.length);
    }
  });

  it('is the same whichever part of the events comes while the view is on its way', () => {
    for (let step = 0; step <= steps.length; step += 1) {
      for (let came = step; came <= steps.length; came += 1) {
        app.restore({ ...healthy([conversation]), seq: 10 });
        app.showNew();
        const expected = app.expect('c');
        app.receive(numbered().filter(({ seq }) => seq <= seqOf(came)));
        app.show(opened(step), expected);
        app.receive(numbered());
        expectState(steps.length);
      }
    }
  });

  it('has an item once that stands elsewhere now', () => {
    app.show({ ...view(conversation, [said('one'), decided, a]), seq: 10 }, app.expect('c'));
    app.receive([{ seq: 11, event: replaced(key('a'), [decided, said('two', true)]) }]);
    expect(app.chat?.items).toEqual([said('one'), a, decided, said('two', true)]);
  });

  it('is another one without one of the events, the control', () => {
    const needed: AppEvent[] = [];
    for (const { seq: left, event } of numbered()) {
      app.restore({ ...healthy([conversation]), seq: 10 });
      app.showNew();
      app.show(opened(0), app.expect('c'));
      app.receive(numbered().filter(({ seq }) => seq !== left));
      const same = JSON.stringify(app.chat?.items) === JSON.stringify(opened(steps.length).items);
      if (!same || app.chat?.isOutdated) needed.push(event);
    }
    // Later events repeat what all others tell.
    const last = numbered().at(-1)?.event;
    expect(needed).toEqual([changed(said('one')), changed(a), changed(a2), last]);
  });
});

describe('the feed', () => {
  it('tells where an event is missing', () => {
    app.show(opened(0), app.expect('c'));
    const [first, second, third] = numbered();
    if (!first || !second || !third) throw new Error('too few events');
    expect(app.receive([first])).toBe(true);
    expect(app.receive([first, second])).toBe(true);
    expect(app.receive([{ ...third, seq: third.seq + 1 }])).toBe(false);
  });
});

describe('the window', () => {
  let host: FakeHost;
  let session: Session;

  beforeEach(async () => {
    host = new FakeHost(chat());
    session = new Session(host);
    await session.start();
  });

  const fetched = (): number => host.asked('openConversation').length;
  const items = (): readonly ChatItem[] => session.app.chat?.items ?? [];

  it('fetches nothing when an event holds what stands in the chat now', async () => {
    const before = fetched();
    const stands = [answered('new', 'All of it')];
    host.tell({
      type: 'items_replaced',
      conversation: 'groceries',
      after: null,
      items: stands,
      variants: [],
    });
    await Promise.resolve();
    expect(items()).toEqual(stands);
    expect(fetched()).toBe(before);
  });

  it('fetches a chat again whose last item that stays it does not have', async () => {
    const [before, stands] = [fetched(), items()];
    host.tell({
      type: 'items_replaced',
      conversation: 'groceries',
      after: { type: 'message', id: 'nowhere' },
      items: [answered('new', 'The end of it')],
      variants: [],
    });
    await expect.poll(fetched).toBe(before + 1);
    await expect.poll(() => session.app.chat?.isOutdated).toBe(false);
    expect(items()).toEqual(stands);
  });

  it('fetches a chat again with the next event when a fetch was refused', async () => {
    const before = fetched();
    host.refusals.set('openConversation', { code: 'other', message: 'Not now.' });
    host.tell({ type: 'chat_changed', conversation: 'groceries' });
    await expect.poll(() => session.app.chat?.isOutdated).toBe(true);
    expect(fetched()).toBe(before + 1);
    host.tell({ type: 'close_asked' });
    await expect.poll(fetched).toBe(before + 2);
    await expect.poll(() => session.app.chat?.isOutdated).toBe(false);
    host.tell({ type: 'close_asked' });
    await Promise.resolve();
    expect(fetched()).toBe(before + 2);
  });

  it('begins again when it missed an event', async () => {
    const subscribed = (): number => host.asked('subscribe').length;
    const before = subscribed();
    host.tell({ type: 'close_asked' });
    await Promise.resolve();
    expect(subscribed()).toBe(before);
    host.lose({ type: 'close_asked' });
    host.tell({ type: 'close_asked' });
    await expect.poll(subscribed).toBe(before + 1);
  });

  it('leaves a new conversation in front of the user when it begins again', async () => {
    session.openNew();
    session.draft = 'Half a sent';
    const before = fetched();
    await session.start();
    expect(session.app.chat).toBeNull();
    expect(session.draft).toBe('Half a sent');
    expect(fetched()).toBe(before);
  });

  it('fetches the open conversation when it begins again, also one that is not in the list', async () => {
    const before = fetched();
    const subscribed = host.subscribe.bind(host);
    host.subscribe = async (receive) => {
      const snapshot = await subscribed(receive);
      const others = snapshot.conversations.filter(({ id }) => id !== 'groceries');
      return { ...snapshot, conversations: others };
    };
    await session.start();
    expect(session.app.chat?.id).toBe('groceries');
    expect(host.asked('openConversation').slice(before)).toEqual(['groceries']);
  });

  it('goes to the conversation that was called when it missed another event', async () => {
    const called = row('called', 'Called');
    host = new FakeHost({ ...chat(), views: [...chat().views, view(called, [])] });
    session = new Session(host);
    await session.start();
    host.lose({ type: 'close_asked' });
    host.tell({ type: 'called', conversation: 'called' });
    await expect.poll(() => host.asked('subscribe').length).toBe(2);
    await expect.poll(() => session.app.chat?.id).toBe('called');
  });

  it('shows no work of a model from before it began again', async () => {
    const wait = { type: 'loading' } as const;
    host.tell({ type: 'wait_changed', conversation: 'groceries', wait });
    expect(session.app.chat?.wait).toEqual(wait);
    await session.start();
    expect(session.app.chat?.wait).toBeNull();
  });

  it('tries again, less and less often, when it cannot begin again', async () => {
    vi.useFakeTimers();
    try {
      const subscribed = (): number => host.asked('subscribe').length;
      const before = subscribed();
      for (const [tries, wait] of [1_000, 2_000, 4_000].entries()) {
        host.refusals.set('subscribe', new Error('not now'));
        if (tries === 0) await session.start();
        else await vi.advanceTimersByTimeAsync(1);
        expect(subscribed()).toBe(before + tries + 1);
        await vi.advanceTimersByTimeAsync(wait - 1);
        expect(subscribed()).toBe(before + tries + 1);
      }
      await vi.advanceTimersByTimeAsync(1);
      expect(subscribed()).toBe(before + 4);
      host.tell({ type: 'hub_changed', hub: { ...session.app.hub, state: 'connecting' } });
      expect(session.app.hub.state).toBe('connecting');
      await vi.advanceTimersByTimeAsync(60_000);
      expect(subscribed()).toBe(before + 4);
    } finally {
      vi.useRealTimers();
    }
  });
});
