import { render, screen, waitFor } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import type { ToolItem } from '../../../src/features/chat/rows';
import type { AppEvent, NotePath } from '../../../src/ipc/bindings';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { search } from '../../fake/stories/search';

async function open() {
  const host = new FakeHost(search());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await screen.findByTestId('chat-log');
  return { host, session };
}

const heating = 'House/Heating.md';

/** A call that shows a note to the user has come to its end. */
function shown(conversation: string, call: string, path: NotePath, line: number | null): AppEvent {
  const item: ToolItem = {
    type: 'tool',
    at: 0,
    turn: 't9',
    call,
    tool: 'show_note',
    arguments: '{}',
    output: 'Shown',
    isError: false,
    reactions: [{ type: 'open_note', path, line }],
  };
  return { type: 'item_changed', conversation, item };
}

describe('the list of changes that a tool shows', () => {
  it.each([['heating'], [null]])('opens once, for %s', async (conversation) => {
    const { host, session } = await open();
    const event = shown('heating', 'cmd-9', heating, null);
    if (event.type !== 'item_changed' || event.item.type !== 'tool') throw new Error('no call');
    const reactions = [{ type: 'show_changes', conversation } as const];
    const call = { ...event, item: { ...event.item, tool: 'show_changes', reactions } };
    host.tell({ ...call, conversation: 'another' });
    expect(session.place.name).toBe('chat');
    host.tell(call);
    expect(await screen.findByTestId('changes')).toBeVisible();
    expect(session.place).toMatchObject({ name: 'changes', conversation });
    session.backToChat();
    host.tell(call);
    await screen.findByTestId('chat-log');
    expect(session.place.name).toBe('chat');
  });
});

describe('a note that a tool shows', () => {
  it('opens in the pane, at its line, once', async () => {
    const { host, session } = await open();
    const conversation = session.app.chat?.id ?? '';
    expect(host.asked('showNote'), 'what was shown before stays closed').toEqual([]);
    host.tell(shown(conversation, 'cmd-9', heating, 7));
    expect(await screen.findByTestId('note-pane')).toHaveTextContent('Heating');
    expect(session.note.at).toEqual({ line: 7 });
    await session.note.close();
    host.tell(shown(conversation, 'cmd-9', heating, 7));
    host.tell(shown('another', 'cmd-9', heating, 7));
    await waitFor(() => expect(screen.queryByTestId('note-pane')).toBeNull());
    expect(host.asked('showNote')).toEqual([heating]);
  });

  it('opens also where the tool is quicker than the new conversation', async () => {
    const { host, session } = await open();
    session.openNew();
    const send = host.sendMessage.bind(host);
    host.sendMessage = async (request, vault) => {
      const conversation = await send(request, vault);
      host.tell(shown(conversation, 'cmd-1', heating, null));
      return conversation;
    };
    session.draft = 'open heating';
    await session.send();
    expect(await screen.findByTestId('note-pane')).toHaveTextContent('Heating');
    expect(host.asked('showNote')).toEqual([heating]);
  });
});
