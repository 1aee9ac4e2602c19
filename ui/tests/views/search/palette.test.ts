import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it } from 'vitest';

import { toolKind } from '../../../src/features/chat/tool-calls/tool-kind';
import { icons } from '../../../src/shared/components/icons';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { held } from '../../fake/stories/chat/approvals';
import { search } from '../../fake/stories/search';

async function open(tell = search) {
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  return { host, session, keys: userEvent.setup() };
}

const palette = '{Control>}k{/Control}';

function offered(): string[] {
  return screen.getAllByRole('option').map((option) => option.textContent.trim());
}

beforeEach(() => localStorage.clear());

/** The shape of a drawing. */
function drawing(element: Element | null | undefined): string | undefined {
  return element?.querySelector('svg')?.innerHTML;
}

describe('the command for a new answer', () => {
  const told = /not sent to the hub/;
  const row = () => screen.getByRole('option', { name: /^Regenerate last answer/ });

  it('says that a new answer to a hub message is not sent to the hub', async () => {
    const { keys } = await open(held);
    await keys.keyboard(palette);
    expect(row()).toHaveTextContent(told);
  });

  it('says nothing more where the message came from the window', async () => {
    const { keys } = await open();
    await keys.keyboard(palette);
    expect(row()).not.toHaveTextContent(told);
  });
});

describe('the ways to find something', () => {
  it('have a drawing each, the same in the palette and where they lead', async () => {
    const { keys } = await open();
    await keys.keyboard(palette);
    const row = (name: RegExp) => drawing(screen.getByRole('option', { name }));
    const [text, note, talks] = [row(/^Search n/), row(/^Go to n/), row(/^Search c/)];
    const all = [text, note, talks, drawing(screen.getByTestId('palette'))];
    expect(new Set(all).size, 'each its own').toBe(4);
    await keys.keyboard('{Escape}');
    expect(drawing(screen.getByTestId('open-switcher'))).toBe(note);
    expect(drawing(screen.getByTestId('conversation-search-field').parentElement)).toBe(talks);
    await keys.keyboard('{Control>}p{/Control}');
    expect(drawing(await screen.findByTestId('switcher'))).toBe(note);
    await keys.keyboard('{Escape}{Control>}{Shift>}f{/Shift}{/Control}');
    const field = await screen.findByTestId('search-field');
    expect(drawing(field.parentElement)).toBe(text);
  });

  it('have the same drawing on the line of a tool that finds the same', async () => {
    const { keys } = await open();
    await keys.keyboard(palette);
    const found = (tool: string) => icons[toolKind(tool).icon];
    const paths = (name: RegExp): (string | null)[] => {
      const option = screen.getByRole('option', { name });
      return [...option.querySelectorAll('path')].map((path) => path.getAttribute('d'));
    };
    for (const tool of ['find_notes', 'search_files', 'list_files', 'list_tags']) {
      expect(found(tool), tool).toEqual(paths(/^Search n/));
    }
    expect(found('get_conversation')).toEqual(paths(/^Search c/));
    expect(found('show_note')).toEqual(paths(/^Go to n/));
  });

  it('have the same drawing on what they find', async () => {
    const { keys } = await open();
    await keys.keyboard(palette);
    const row = (name: RegExp) => drawing(screen.getByRole('option', { name }));
    const [note, talks] = [row(/^Go to n/), row(/^Search c/)];
    await keys.keyboard('heating');
    const notes = await screen.findByRole('group', { name: 'Notes' });
    expect(drawing(within(notes).getAllByRole('option')[0])).toBe(note);
    const conversations = screen.getByRole('group', { name: 'Conversations' });
    expect(drawing(within(conversations).getAllByRole('option')[0])).toBe(talks);
  });
});

describe('the palette', () => {
  it('offers what can be done now, with its keys, and does it', async () => {
    const { session, keys } = await open();
    await keys.keyboard(palette);
    expect(screen.getByTestId('palette-field')).toHaveFocus();
    expect(offered().some((one) => /^New conversation\s+Ctrl\+N$/.test(one))).toBe(true);
    expect(
      offered().some((one) => one.startsWith('Review pending')),
      'nothing waits',
    ).toBe(false);
    expect(
      offered().some((one) => one.startsWith('Stop')),
      'nothing runs',
    ).toBe(false);
    await keys.keyboard('sett');
    await keys.keyboard('{Enter}');
    await waitFor(() => expect(session.place.name).toBe('settings'));
    expect(screen.queryByTestId('palette')).toBeNull();
  });

  it('has what was done last on top, also in the next window', async () => {
    const { keys } = await open();
    await keys.keyboard(`${palette}theme dark{Enter}`);
    await keys.keyboard(palette);
    await keys.keyboard('theme light{Enter}');
    cleanup();
    const again = await open();
    await again.keys.keyboard(palette);
    // The theme of this window is neither of them: both are there.
    expect(offered().slice(0, 2)).toEqual(['Theme: Light', 'Theme: Dark']);
  });

  it('finds notes and conversations too, and opens them', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard(palette);
    await keys.keyboard('heating');
    const notes = await screen.findByRole('group', { name: 'Notes' });
    const talks = screen.getByRole('group', { name: 'Conversations' });
    expect(within(talks).getByRole('option')).toHaveTextContent('What the heating needs');
    await keys.click(within(notes).getByRole('option', { name: /^Heating/ }));
    expect(await screen.findByTestId('note-pane')).toHaveTextContent('Heating');
    expect(host.asked('showNote')).toEqual(['House/Heating.md']);
    await keys.keyboard(`${palette}passport`);
    await screen.findByRole('group', { name: 'Conversations' });
    await keys.keyboard('{Enter}');
    expect(host.asked('openConversation').at(-1)).toBe('passport');
    expect(session.palette.open).toBe(false);
  });

  it('says that nothing is called so, and Esc gives the keyboard back', async () => {
    const { session, keys } = await open();
    await keys.keyboard(palette);
    await keys.keyboard('qqq');
    expect(await screen.findByTestId('palette-none')).toHaveTextContent('No results');
    await keys.keyboard('{Enter}');
    expect(session.palette.open, 'there is nothing to do').toBe(true);
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByTestId('palette')).toBeNull());
  });

  it('does nothing while an input method composes', async () => {
    const { session, keys } = await open();
    await keys.keyboard(palette);
    const field = screen.getByTestId('palette-field');
    await fireEvent.keyDown(field, { key: 'Enter', isComposing: true });
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 });
    await fireEvent.keyDown(field, { key: 'Escape', isComposing: true });
    expect(session.palette.open).toBe(true);
    expect(session.place.name).toBe('chat');
  });
});

describe('the list of shortcuts', () => {
  it('opens with ?, unless it is being typed', async () => {
    const { session, keys } = await open();
    await keys.keyboard('why?');
    expect(screen.queryByTestId('shortcuts')).toBeNull();
    expect(session.draft).toBe('why?');
    screen.getByTestId('new-conversation').focus();
    await keys.keyboard('?');
    const list = await screen.findByTestId('shortcuts');
    for (const words of ['Go to note', 'Accept the whole note', 'New line', 'Rename']) {
      expect(list).toHaveTextContent(words);
    }
    await keys.keyboard('{Control>}n{/Control}');
    expect(screen.getByTestId('shortcuts'), 'keys mean nothing behind it').toBeVisible();
  });

  it('names each key of the window once', async () => {
    const { keys } = await open();
    screen.getByTestId('new-conversation').focus();
    await keys.keyboard('?');
    const groups = within(await screen.findByTestId('shortcuts')).getAllByRole('heading');
    const anywhere = groups[0]?.parentElement;
    const caps = [...(anywhere?.querySelectorAll('dd') ?? [])].map((one) => one.textContent);
    // Esc stops, and closes the note: what stands first and applies is meant.
    const twice = caps.filter((one, at) => caps.indexOf(one) !== at);
    expect(twice).toEqual(['Esc']);
  });
});

describe('the last message', () => {
  it('is edited with ↑ in an empty composer; its old text stays as a version', async () => {
    const { host, keys } = await open();
    await keys.keyboard('{ArrowUp}');
    const words = await screen.findByRole('textbox', { name: 'Your message' });
    expect(words).toHaveFocus();
    expect(words).toHaveValue('What do I know about the boiler?');
    await keys.keyboard(' Briefly.{Enter}');
    expect(host.asked('regenerate')).toEqual([
      { message: 's1', text: 'What do I know about the boiler? Briefly.', old: null },
    ]);
    expect(await screen.findByRole('group', { name: 'Versions of this message' })).toBeVisible();
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  });

  it('is left as it is by Esc, which gives the keyboard back and closes nothing else', async () => {
    const { host, session, keys } = await open();
    await session.showNote('House/Heating');
    await keys.keyboard('{ArrowUp}Other{Escape}');
    expect(screen.queryByRole('textbox', { name: 'Your message' })).toBeNull();
    expect(screen.getByTestId('composer')).toHaveFocus();
    expect(screen.getByTestId('note-pane')).toBeVisible();
    expect(host.asked('regenerate')).toEqual([]);
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByTestId('note-pane')).toBeNull());
  });

  it('stays as it is while it is being answered', async () => {
    const { host, session, keys } = await open();
    const row = session.app.current;
    if (!row) throw new Error('nothing is open');
    host.tell({ type: 'conversation_changed', conversation: { ...row, working: true } });
    await keys.keyboard('{ArrowUp}');
    expect(screen.queryByRole('textbox', { name: 'Your message' })).toBeNull();
    await keys.keyboard('{Escape}');
    expect(host.asked('stop')).toEqual(['heating']);
  });
});

describe('keys', () => {
  it('lead from one finder to another', async () => {
    const { session, keys } = await open();
    await keys.keyboard('{Control>}p{/Control}');
    expect(session.switcher.open).toBe(true);
    await keys.keyboard(palette);
    expect([session.switcher.open, session.palette.open]).toEqual([false, true]);
  });

  it('F2 renames the open conversation from anywhere', async () => {
    const { host, keys } = await open();
    await keys.keyboard('{F2}');
    const field = await screen.findByTestId('conversation-name');
    await waitFor(() => expect(field).toHaveFocus());
    await keys.keyboard('Warm{Enter}');
    expect(host.asked('renameConversation')).toEqual([{ conversation: 'heating', name: 'Warm' }]);
  });
});
