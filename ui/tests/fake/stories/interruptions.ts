/** Moments that come while the window is open: a question of its own, a refusal, a loss. */
import type { ContextUse } from '../../../src/ipc/bindings';
import type { Story } from '../story';
import { answered, healthy, row, userMessage, view } from './base';
import { chat } from './chat/chat';
import { emptyVault } from './first-run';

/** The window was closed while the hub is on. */
export function closing(): Story {
  return { ...chat(), then: [{ type: 'close_asked' }] };
}

/** The next message cannot be taken. */
export function refused(): Story {
  const message = 'Couldn’t save because the disk is full. Free up some space, then try again.';
  return { ...emptyVault(), refusals: { sendMessage: { code: 'write', message } } };
}

/** The window comes up and the application does not answer as it should. */
export function noStart(): Story {
  const message =
    '`/home/anna/.local/share/vaultmate/vaults/Notebook/vaultmate.db` is damaged. Move it away or restore a backup, then start again.';
  return { ...emptyVault(), refusals: { subscribe: { code: 'other', message } } };
}

/** The folder is gone while it is open. */
export function vaultTrouble(): Story {
  const story = chat();
  const { vault } = story.snapshot;
  const message =
    'The folder with your notes no longer exists: /home/anna/Documents/Notebook. Restore it, or open another one in Settings.';
  const trouble = { code: 'vault', message } as const;
  return { ...story, snapshot: { ...story.snapshot, vault: vault && { ...vault, trouble } } };
}

/** No model is asked. */
export function paused(): Story {
  const story = chat();
  const { settings } = story.snapshot;
  const spending = { ...settings.spending, paused: true };
  return { ...story, snapshot: { ...story.snapshot, settings: { ...settings, spending } } };
}

/** A note is removed while it is shown. */
export function removed(): Story {
  return { ...chat(), removedOnceShown: 'Pantry.md' };
}

/** Archived conversations. */
export function archived(): Story {
  const story = chat();
  const archived = [
    row('loft', 'Insulating the loft: three offers compared', { archived: true }),
    row('allotment', 'The allotment’s new rules', { archived: true, fromHub: true }),
  ];
  const conversations = [...story.snapshot.conversations, ...archived];
  return { ...story, snapshot: { ...story.snapshot, conversations } };
}

/** A conversation that nearly fills the context window; of `working`, a turn runs in it. */
export function full(working = false): Story {
  const conversation = row('archive', 'What the archive says about the mill', { working });
  const items = Array.from({ length: 8 }, (_, n) => [
    userMessage(`u${n}`, `What stands in the minutes of 19${41 + n}?`),
    answered(`a${n}`, `The mill is named twice in [[Archive/Minutes 19${41 + n}]].`),
  ]).flat();
  const context: ContextUse = {
    used: 154_560,
    window: 184_000,
    parts: [
      { kind: 'instructions', tokens: 4_310 },
      { kind: 'summary', tokens: 1_250 },
      { kind: 'messages', tokens: 21_400 },
      { kind: 'tool_results', tokens: 124_900 },
      ...(working ? [{ kind: 'open_turn', tokens: 2_700 } as const] : []),
    ],
    canSummarize: true,
  };
  return {
    snapshot: healthy([conversation]),
    views: [view(conversation, items, { context })],
    notes: {},
  };
}

export function fullWorking(): Story {
  return full(true);
}

/** A long conversation whose beginning was summarized for the model. */
export function summed(): Story {
  const conversation = row('roof', 'The roof of the shed');
  const items = [
    userMessage('u1', 'What did the roofer say about the felt?'),
    answered('a1', 'Two layers, the upper one with sand. He wants the gutter moved first.'),
    {
      type: 'summary',
      id: 's1',
      text: 'The user plans a new roof for the shed. The roofer wants two layers of felt and the gutter moved first; the offer is 1,140 euros, valid until the end of the month. Open: who moves the gutter.',
    } as const,
    userMessage('u2', 'Then write the offer into the note of the shed.'),
    answered('a2', 'Done: it stands under [[House/Shed#Offers]].'),
  ];
  return { snapshot: healthy([conversation]), views: [view(conversation, items)], notes: {} };
}
