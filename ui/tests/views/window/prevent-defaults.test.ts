import { createEvent, fireEvent, render, screen } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

const screens: readonly (readonly [name: string, story: string, go: (session: Session) => void])[] =
  [
    ['the first run', 'first-run', () => undefined],
    ['the chat', 'chat', () => undefined],
    ['a review', 'review', () => undefined],
    ['the settings', 'chat', (session) => session.openSettings('vault')],
    ['the changes', 'chat', (session) => session.openChanges()],
    ['the search', 'chat', (session) => session.openSearch()],
  ];

async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const session = new Session(new FakeHost(told));
  render(App, { session });
  await session.start();
  return session;
}

/** A drag of such data over an element, or its drop there: whether the engine may do what it would do. */
async function isLeft(name: 'dragOver' | 'drop', on: Element, types: readonly string[]) {
  const event = createEvent[name](on);
  Object.assign(event, { dataTransfer: { types, files: [], dropEffect: 'copy' } });
  await fireEvent(on, event);
  return !event.defaultPrevented;
}

describe('the window stays on its page', () => {
  it.each(screens)('when something is dropped on %s', async (_name, story, go) => {
    go(await open(story));
    const main = await screen.findByRole('main');
    for (const types of [
      ['Files'],
      ['text/uri-list', 'text/html', 'text/plain'],
      ['text/plain'],
      [],
    ]) {
      for (const on of [main, ...main.querySelectorAll('h1, button'), document.body]) {
        expect(await isLeft('dragOver', on, types)).toBe(false);
        expect(await isLeft('drop', on, types)).toBe(false);
      }
    }
  });

  it('and text can still be dropped where one writes, but no file', async () => {
    const session = await open('chat');
    session.openSearch();
    const field = await screen.findByTestId('search-field');
    expect(await isLeft('drop', field, ['text/plain'])).toBe(true);
    expect(await isLeft('drop', field, ['text/uri-list', 'text/plain'])).toBe(true);
    expect(await isLeft('drop', field, ['text/uri-list', 'Files'])).toBe(false);
  });

  it('and the menu of the engine is for text fields and selections', async () => {
    await open('chat');
    const log = await screen.findByTestId('chat-log');
    const menu = (on: Element) => fireEvent.contextMenu(on);
    expect(await menu(log)).toBe(false);
    expect(await menu(await screen.findByTestId('composer'))).toBe(true);
    const link = document.createElement('a');
    const text = document.createElement('p');
    text.textContent = 'words';
    log.append(link, text);
    getSelection()?.selectAllChildren(text);
    expect(await menu(text)).toBe(true);
    expect(await menu(link)).toBe(false);
    getSelection()?.removeAllRanges();
  });
});
