import { expect, it } from 'vitest';

import { ipcCalls } from '../../src/ipc/bindings';

/** The client, and the commands that it called: with the vault that the window shows, or without. */
function client() {
  const made: [how: string, command: string, request: Record<string, unknown>][] = [];
  const record =
    (how: string) =>
    <T>(command: string, request: Record<string, unknown>): Promise<T> => {
      made.push([how, command, request]);
      return new Promise<T>(() => undefined);
    };
  return { calls: ipcCalls(record('plain'), record('in vault')), made };
}

it('a call about the vault carries it, a call about the application does not', () => {
  const { calls, made } = client();
  void calls.setArchiveState('c', 'archived');
  void calls.closeNote();
  void calls.tryKey('sk');
  void calls.sendMessage({ conversation: null, text: 'Hi', answers: null, openNote: null }, 'v');
  expect(made.slice(0, 3)).toEqual([
    ['in vault', 'set_archive_state', { conversation: 'c', archiveState: 'archived' }],
    ['in vault', 'close_note', {}],
    ['plain', 'try_key', { key: 'sk' }],
  ]);
  expect(made[3]).toMatchObject(['plain', 'send_message', { vault: 'v' }]);
});
