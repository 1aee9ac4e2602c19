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
import { proposedPaths, type DecidedCalls, type DecisionItem } from './change-outcome';

/** One note that a decision accepted in part, and the calls that proposed its changes. */
interface Mixed {
  readonly path: NotePath;
  readonly calls: readonly ToolItem[];
}

/** By the key of the call. */
export type Places = ReadonlyMap<string, 'applied' | 'rejected'>;

export function mixedIn(items: readonly ChatItem[], { decisions }: DecidedCalls): readonly Mixed[] {
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
  decisions: DecidedCalls['decisions'],
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
    .flatMap(({ notes }) => notes)
    .filter((note) => note.path === path && calls.some(({ turn }) => turn === note.turn))
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
  const lines = { added: linesOf(hunks, 'added'), removed: linesOf(hunks, 'removed') };
  const proposed = calls.flatMap((call) => textChangeOf(call)?.added ?? []);
  // Only the calls wrote here, and not the user in the review.
  const isComplete = lines.added.every((line) =>
    proposed.some((text) => isIn(text, [line]) === 'yes'),
  );
  return calls.flatMap((call): [string, 'applied' | 'rejected'][] => {
    const state = propertyState(call, lines) ?? textState(call, lines, isComplete);
    return state ? [[itemKey(call), state]] : [];
  });
}

/** The lines of an applied change. */
interface AppliedLines {
  readonly added: readonly string[];
  readonly removed: readonly string[];
}

function textState(
  call: ToolItem,
  { added, removed }: AppliedLines,
  isComplete: boolean,
): 'applied' | 'rejected' | null {
  const change = textChangeOf(call);
  if (!change) return null;
  const found = [
    ...change.added.map((line) => isIn(line, added)),
    ...change.removed.map((line) => isIn(line, removed)),
  ];
  if (found.every((one) => one === 'yes')) return 'applied';
  // Where nothing stood before, the user may have written another text.
  const isSure = change.removed.length > 0 || isComplete;
  return isSure && found.every((one) => one === 'no') ? 'rejected' : null;
}

function propertyState(
  call: ToolItem,
  { added, removed }: AppliedLines,
): 'applied' | 'rejected' | null {
  const { property, action, value } = argumentsOf(call);
  if (call.tool !== 'set_property' || typeof property !== 'string') return null;
  const key = `${property.toLowerCase()}:`;
  const values = (Array.isArray(value) ? value : [value]).map(String);
  const isOwn = (line: string): boolean => line.toLowerCase().startsWith(key);
  const isItem = (line: string): boolean => values.some((one) => line === `- ${one}`);
  if (![...added, ...removed].some((line) => isOwn(line) || isItem(line))) return 'rejected';
  if (action === 'remove') return added.some(isOwn) ? null : 'applied';
  const hasAll = values.every((one) =>
    added.some((line) => (isOwn(line) && line.includes(one)) || line === `- ${one}`),
  );
  return hasAll ? 'applied' : null;
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

/** The lines that a call adds and removes; `null` for a call that does not tell them. */
function textChangeOf(call: ToolItem): AppliedLines | null {
  const { old_text: old, new_text: fresh, replace_all: all, ...rest } = argumentsOf(call);
  const { action, text, content } = rest;
  const addition = call.tool === 'append_file' ? content : text;
  if (typeof addition === 'string' && action !== 'replace') {
    const added = linesIn(addition);
    return added.length > 0 ? { added, removed: [] } : null;
  }
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
