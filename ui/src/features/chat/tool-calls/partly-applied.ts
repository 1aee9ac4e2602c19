/**
 * Of several calls that changed one note, of which a review accepted some places and rejected others: those of which all
 * was accepted, and those of which nothing was. A decision names notes only, so what was applied is compared with what
 * each call was given; where that is not certain, a call is omitted.
 */
import type {
  AppliedHunks,
  AppliedSet,
  ChatItem,
  EffectId,
  NoteHunk,
  NotePath,
} from '../../../ipc/bindings';
import { itemKey } from '../../../state/chat/open-conversation.svelte';
import type { ToolItem } from '../rows';
import { argumentsOf } from './call-arguments';
import { proposedPaths, type DecisionItem } from './change-outcome';

/** One note that a decision accepted in part, and the calls that proposed its changes. */
interface Mixed {
  readonly path: NotePath;
  readonly calls: readonly ToolItem[];
}

/** By the key of the call. */
export type Places = ReadonlyMap<string, 'applied' | 'rejected'>;

export function mixedIn(
  items: readonly ChatItem[],
  decisions: ReadonlyMap<string, readonly DecisionItem[]>,
): readonly Mixed[] {
  const mixed = items.flatMap((item) => {
    if (item.type !== 'decision') return [];
    return item.applied
      .filter((path) => item.rejected.includes(path))
      .map((path) => ({ path, calls: callsOf(item, path, items, decisions) }));
  });
  return mixed.filter(({ calls }) => calls.length > 1);
}

/** The calls about which this was the only decision. */
function callsOf(
  decision: DecisionItem,
  path: NotePath,
  items: readonly ChatItem[],
  decisions: ReadonlyMap<string, readonly DecisionItem[]>,
): readonly ToolItem[] {
  return items.flatMap((item) => {
    if (item.type !== 'tool' || !proposedPaths(item).includes(path)) return [];
    const given = decisions.get(itemKey(item)) ?? [];
    return given.length === 1 && given[0] === decision ? [item] : [];
  });
}

/** The changes in which it shows what was applied. */
export function effectsOf({ path, calls }: Mixed, applied: readonly AppliedSet[]): EffectId[] {
  return applied
    .filter(({ turn }) => calls.some((call) => call.turn === turn))
    .flatMap(({ notes }) => notes.filter((note) => note.path === path))
    .map(({ effect }) => effect);
}

/** The certain outcome of each call; none before the hunks of all changes are known. */
export function callOutcomes(
  mixed: readonly Mixed[],
  applied: readonly AppliedSet[],
  hunks: ReadonlyMap<EffectId, AppliedHunks>,
): Places {
  const places = new Map<string, 'applied' | 'rejected'>();
  for (const one of mixed) {
    const known = effectsOf(one, applied).map((effect) => hunks.get(effect)?.hunks ?? []);
    if (known.length === 0 || known.some((each) => each.length === 0)) continue;
    for (const [key, state] of statesOf(one.calls, known.flat())) places.set(key, state);
  }
  return places;
}

function statesOf(
  calls: readonly ToolItem[],
  hunks: readonly NoteHunk[],
): [string, 'applied' | 'rejected'][] {
  const [added, removed] = [linesOf(hunks, 'added'), linesOf(hunks, 'removed')];
  return calls.flatMap((call): [string, 'applied' | 'rejected'][] => {
    const change = changeOf(call);
    if (!change) return [];
    const found = [
      ...change.added.map((line) => isIn(line, added)),
      ...change.removed.map((line) => isIn(line, removed)),
    ];
    const key = itemKey(call);
    if (found.every((one) => one === 'yes')) return [[key, 'applied']];
    // The user may have written another text where nothing stood before.
    const isSure = change.removed.length > 0;
    return isSure && found.every((one) => one === 'no') ? [[key, 'rejected']] : [];
  });
}

/** Texts this long are found in a line by more than chance. */
const telling = 8;

function isIn(text: string, lines: readonly string[]): 'yes' | 'maybe' | 'no' {
  if (lines.some((line) => line === text)) return 'yes';
  if (!lines.some((line) => line.includes(text))) return 'no';
  return text.length >= telling ? 'yes' : 'maybe';
}

function linesOf(hunks: readonly NoteHunk[], sign: 'added' | 'removed'): string[] {
  return hunks
    .flatMap(({ lines }) => lines.filter((line) => line.sign === sign))
    .map(({ words }) =>
      words
        .map(({ text }) => text)
        .join('')
        .trim(),
    );
}

/** The lines that a text edit takes away and puts there; `null` for a call that says it in another way. */
function changeOf(call: ToolItem): { readonly added: string[]; readonly removed: string[] } | null {
  const { old_text: old, new_text: fresh, replace_all: all } = argumentsOf(call);
  if (typeof old !== 'string' || typeof fresh !== 'string' || all === true) return null;
  const [before, after] = [linesIn(old), linesIn(fresh)];
  const change = {
    added: after.filter((line) => !before.includes(line)),
    removed: before.filter((line) => !after.includes(line)),
  };
  return change.added.length + change.removed.length > 0 ? change : null;
}

function linesIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
