import { beforeEach, describe, expect, it } from 'vitest';

import { mergeLines } from '../../../src/features/settings/controls/merge-lines';
import type { Settings } from '../../../src/ipc/bindings';
import type { Host } from '../../../src/ipc/host';
import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { chat } from '../../fake/stories/chat/chat';

const refusal = { code: 'write', message: 'The disk is full.' };
const field = 'private.never';

let host: FakeHost;
let session: Session;

beforeEach(async () => {
  host = new FakeHost(chat());
  session = new Session(host);
  await session.start();
});

/** Long enough for the next change to be sent. */
const settled = () => new Promise((resolve) => setTimeout(resolve));

/** A list of a file in which only what differs is changed, entry by entry. */
function patched(list: readonly string[], before: readonly string[], after: readonly string[]) {
  const kept = list.filter((entry) => !before.includes(entry) || after.includes(entry));
  return [...kept, ...after.filter((entry) => !before.includes(entry) && !kept.includes(entry))];
}

/** An application without private notes, whose saves end when the test says so. */
function openSaves() {
  const withRules = (settings: Settings, never: string[]): Settings => ({
    ...settings,
    private: { ...settings.private, never },
  });
  let file = withRules(session.app.settings, []);
  host.tell({ type: 'settings_changed', settings: file, trouble: null });
  const asked: [Settings, Settings][] = [];
  const ends: ((end: 'saved' | 'refused') => void)[] = [];
  const asHost: Host = host;
  asHost.saveSettings = async (settings, before) => {
    asked.push([settings, before]);
    const end = await new Promise<'saved' | 'refused'>((resolve) => {
      ends.push(resolve);
    });
    if (end === 'refused') throw refusal;
    const rules = [file, before, settings].map((one) => one.private.never);
    file = withRules(settings, patched(rules[0] ?? [], rules[1] ?? [], rules[2] ?? []));
    return file;
  };
  const end = async (number: number, how: 'saved' | 'refused') => {
    await settled();
    ends[number]?.(how);
    await settled();
  };
  return { asked, end, rules: () => file.private.never };
}

/** The user leaves the field of the private notes with this text. */
function type(text: string): Promise<void> {
  const rules = session.app.settings.private;
  return session.typedFields.save(field, text, rules.never.join('\n'), (typed, base) =>
    session.save({ private: { ...rules, never: mergeLines(rules.never, base, typed) } }),
  );
}

describe('a change of the settings', () => {
  it.each(['saved', 'refused'] as const)(
    'saves all that is in its list, also where the one that it goes on from is %s later',
    async (how) => {
      const { end, rules } = openSaves();
      const both = [type('Diary\nC:/x'), type('Diary\nWork')];
      await end(0, how);
      await end(1, 'saved');
      await Promise.all(both);
      expect(rules()).toEqual(['Diary', 'Work']);
      expect(session.app.settings.private.never).toEqual(['Diary', 'Work']);
      expect(session.typedFields.text(field)).toBeNull();
    },
  );

  it('that is refused stays in its field', async () => {
    const { end, rules } = openSaves();
    const alone = type('Diary');
    await end(0, 'refused');
    await alone;
    expect(rules()).toEqual([]);
    expect(session.typedFields.text(field)).toBe('Diary');
    expect(session.typedFields.refusal(field)).toBe('The disk is full.');
  });

  it('that goes on from several refused ones saves what is in its list', async () => {
    const { end, rules } = openSaves();
    const all = [type('Diary\nC:/x'), type('Diary\nD:/x'), type('Diary\nWork')];
    await end(0, 'refused');
    await end(1, 'refused');
    await end(2, 'saved');
    await Promise.all(all);
    expect(rules()).toEqual(['Diary', 'Work']);
  });

  it('removes an entry that was saved after another change was refused', async () => {
    const { end, rules } = openSaves();
    const all = [type('Diary\nC:/x'), type('Diary\nWork'), type('Diary')];
    await end(0, 'refused');
    await end(1, 'saved');
    expect(rules(), 'the control').toEqual(['Diary', 'Work']);
    await end(2, 'saved');
    await Promise.all(all);
    expect(rules()).toEqual(['Diary']);
  });

  it('saves nothing of a refused one that it does not touch', async () => {
    const { asked, end } = openSaves();
    const seen = session.app.settings;
    const enabled = !seen.hub.enabled;
    const first = session.save({ hub: { ...seen.hub, enabled } });
    const notes = ['Tasks.md'];
    const second = session.save({ hub: { ...session.app.settings.hub, notes } });
    const third = session.save({ theme: 'dark' });
    await end(0, 'refused');
    await end(1, 'saved');
    await end(2, 'saved');
    await Promise.all([first, second, third]);
    const [, ...later] = asked;
    const withNotes = { ...seen, hub: { ...seen.hub, notes } };
    expect(later).toEqual([
      [withNotes, seen],
      [{ ...withNotes, theme: 'dark' }, withNotes],
    ]);
  });
});
