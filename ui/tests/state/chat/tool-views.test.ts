import { describe, expect, it, vi } from 'vitest';

import type { NotePath, NumberedEvent, ToolEvent } from '../../../src/ipc/bindings';
import { ToolViews } from '../../../src/state/chat/tool-views';
import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { answered, healthy, row, view } from '../../fake/stories/base';

/** A call in a conversation that shows a note. */
function shown(conversation: string, call: string, path: NotePath = 'Boat.md'): NumberedEvent {
  const reaction: ToolEvent = { type: 'open_note', path, line: null };
  const item = {
    type: 'tool',
    at: 0,
    turn: 't',
    call,
    tool: 'show_note',
    arguments: '{}',
    output: 'Shown',
    isError: false,
    reactions: [reaction],
  } as const;
  return {
    seq: 1,
    event: { type: 'item_changed', conversation, item: { ...item, reactions: [reaction] } },
  };
}

describe('a view that a tool shows in a conversation that is not in front of the user', () => {
  function heard(when: 'before' | 'during' | 'after'): number {
    let count = 0;
    const views = new ToolViews(() => (count += 1));
    const hear = (): void => views.hear([shown('boat', 'c')], 'soup');
    if (when === 'before') hear();
    views.begin();
    if (when === 'during') hear();
    if (when === 'after') {
      views.end();
      hear();
      views.begin();
    }
    views.arrive('boat');
    return count;
  }

  it('is shown only while a message is on its way there', () => {
    expect(heard('during')).toBe(1);
    expect(heard('before')).toBe(0);
    expect(heard('after')).toBe(0);
  });

  it('is not shown with a later message there', async () => {
    const [soup, boat] = [row('soup', 'Soup'), row('boat', 'Boat')];
    const views = [soup, boat].map((one) => view(one, [answered('a', 'Well.')]));
    const notes = { 'Boat.md': '# Boat' };
    const host = new FakeHost({ snapshot: healthy([soup, boat]), views, notes });
    const session = new Session(host);
    await session.start();
    const send = async (conversation: string): Promise<void> => {
      await session.open(conversation);
      session.draft = 'And now?';
      await session.send();
    };
    const store = host.sendMessage.bind(host);
    host.sendMessage = async (request, vault) => {
      host.tell(shown('boat', 'first').event);
      return await store(request, vault);
    };
    await send('soup');
    host.sendMessage = store;
    host.tell(shown('boat', 'second').event);
    await send('boat');
    expect(host.asked('showNote')).toEqual([]);
    // The control: the conversation is in front of the user.
    host.tell(shown('boat', 'third').event);
    expect(host.asked('showNote')).toEqual(['Boat.md']);
  });
});

describe('a note that a tool shows', () => {
  it('is the choice of the tool in every conversation, until the user opens it', async () => {
    const [soup, boat] = [row('soup', 'Soup'), row('boat', 'Boat')];
    const views = [soup, boat].map((one) => view(one, [answered('a', 'Well.')]));
    const notes = { 'Boat.md': '# Boat', 'Soup.md': '# Soup' };
    const host = new FakeHost({ snapshot: healthy([soup, boat]), views, notes });
    const session = new Session(host);
    await session.start();
    await session.open('soup');
    const isOpen = (path: NotePath) => vi.waitFor(() => expect(session.app.note?.path).toBe(path));
    host.tell(shown('soup', 'first').event);
    await isOpen('Boat.md');
    session.openNew();
    // A new snapshot tells nothing of the open note.
    await session.start();
    expect(host.openedBy).toEqual(['tool', 'tool']);
    await session.follow('Boat');
    expect(host.openedBy).toEqual(['tool', 'tool', 'user']);
    await session.open('soup');
    // A tool that shows a place in the user's note takes nothing from the user.
    host.tell(shown('soup', 'second').event);
    host.tell(shown('soup', 'third', 'Soup.md').event);
    await isOpen('Soup.md');
    await session.start();
    expect(host.openedBy).toEqual(['tool', 'tool', 'user', 'user', 'tool', 'tool']);
  });
});
