import { describe, expect, it } from 'vitest';

import { composerKeys } from '../../../src/features/composer/composer-keys';
import { listKeys } from '../../../src/features/conversations/list-keys';
import { reviewKeys } from '../../../src/features/review/review-keys';
import type { Keys, PlaceKey } from '../../../src/shared/input/shortcut';
import { Session } from '../../../src/state/session.svelte';
import { commandsOf } from '../../../src/views/commands';
import { FakeHost } from '../../fake/host';
import { review } from '../../fake/stories/changes/review';

const places: readonly (readonly [string, readonly PlaceKey[]])[] = [
  ['the review', reviewKeys],
  ['the composer', composerKeys],
  ['the list', listKeys],
];

interface Bound {
  readonly id: string;
  readonly keys?: Keys;
}

/** Keys that mean more than one action, with these. */
function ambiguous(bound: readonly Bound[]): string[] {
  const all = bound.flatMap(({ id, keys }) => (keys ? [{ id, keys: keys.toLowerCase() }] : []));
  return [...new Set(all.map(({ keys }) => keys))].flatMap((keys) => {
    const ids = new Set(all.filter((one) => one.keys === keys).map(({ id }) => id));
    return ids.size > 1 ? [`${keys}: ${[...ids].join(', ')}`] : [];
  });
}

/** The commands of the window that apply where the review is, or the chat with its list. */
async function commands(where: 'the review' | 'the chat'): Promise<Bound[]> {
  const session = new Session(new FakeHost(review()));
  await session.start();
  if (where === 'the review') session.openReview();
  expect(session.place.name).toBe(where === 'the review' ? 'review' : 'chat');
  const nothing = (): void => undefined;
  const isChatCovered = (): boolean => false;
  const ways = { palette: nothing, shortcuts: nothing, openNew: nothing, lookFor: nothing };
  const around = { ...ways, list: async () => undefined, search: nothing, isChatCovered };
  const all = commandsOf(session, { ...around, closeNote: nothing, focus: nothing });
  return all.filter(({ applies }) => applies());
}

describe('a key', () => {
  it.each(places)('means one action in %s', (_, keys) => {
    expect(ambiguous(keys)).toEqual([]);
    expect(new Set(keys.map(({ id }) => id)).size).toBe(keys.length);
  });

  it.each(places)('of %s means no other action of the window there', async (place, keys) => {
    const around = await commands(place === 'the review' ? place : 'the chat');
    expect(around.length).toBeGreaterThan(10);
    expect(ambiguous([...around, ...keys])).toEqual([]);
  });

  it('that means two actions is found', () => {
    const twice = [...reviewKeys, { id: 'archive', keys: 'shift+a' }];
    expect(ambiguous(twice)).toEqual(['shift+a: accept_note, archive']);
    expect(ambiguous([...listKeys, { id: 'rename', keys: 'F2' }])).toEqual([]);
  });
});
