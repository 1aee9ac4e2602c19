/** The facts about the open note are asked for again only when they may be other ones. */
import { beforeEach, expect, it } from 'vitest';

import type { AppliedSet } from '../../../src/ipc/bindings';
import type { Host } from '../../../src/ipc/host';
import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { noteText } from '../../fake/note-text';
import { chat } from '../../fake/stories/chat/chat';

let host: FakeHost;
let session: Session;

beforeEach(async () => {
  host = new FakeHost(chat());
  session = new Session(host);
  await session.start();
  await session.showNote('Pantry');
  await expect.poll(() => [count('noteLinks'), count('assistantLines')]).toEqual([1, 1]);
});

function count(name: keyof Host): number {
  return host.asked(name).length;
}

it('its links are asked for again when other notes change, its attribution is not', async () => {
  const { vault } = session.app;
  if (!vault) throw new Error('there is no vault');
  const [links, marks] = [count('noteLinks'), count('assistantLines')];
  host.tell({ type: 'vault_changed', vault: { ...vault, revision: vault.revision + 1 } });
  await expect.poll(() => count('noteLinks')).toBe(links + 1);
  expect(count('assistantLines')).toBe(marks);
  // The control: its own text is another one.
  host.tell({ type: 'note_changed', path: 'Pantry.md', content: noteText('Rice') });
  await expect.poll(() => count('assistantLines')).toBe(marks + 1);
});

it('its attribution is asked for again when a change of the assistant stands differently', async () => {
  const marks = count('assistantLines');
  const set: AppliedSet = {
    id: 's',
    conversation: null,
    turn: 't',
    by: 'assistant',
    request: '',
    at: 1,
    notes: [],
  };
  host.tell({ type: 'applied_changed', set });
  await expect.poll(() => count('assistantLines')).toBe(marks + 1);
});
