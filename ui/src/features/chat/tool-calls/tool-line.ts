/** Describes a tool call in one line, its effect first. */
import type { NotePath, ToolEvent } from '../../../ipc/bindings';
import { m } from '../../../messages/messages';
import {
  effectText,
  type NoteEffect,
  noteSentence,
  proposedText,
  type Sentence,
  sentence,
} from '../../../state/changes/effect-text';
import { isNote } from '../../../state/notes/note-path';
import type { ToolItem } from '../rows';
import { argumentsOf, callArgument } from './call-arguments';
import { toolKind } from './tool-kind';

export interface ToolLine extends Sentence {
  readonly key: string;
  readonly tone: 'plain' | 'error' | 'pending';
  /** Notes that opening the line lists. */
  readonly notes: readonly NotePath[];
  /** Notes and folders that it changed, or proposed to change. */
  readonly changed: readonly NotePath[];
  /** The calls behind it, for arguments and results. */
  readonly calls: readonly ToolItem[];
}

type LineText = Omit<ToolLine, 'key' | 'calls'>;

/** The state that the changes of a call in a note are in by now. */
type StateOf = (call: ToolItem, note: NotePath) => string | null;

/** One line a call; reads that follow each other share one, and so do equal changes of several notes, and changes of
 * one note that are in the same state. */
export function toolLines(calls: readonly ToolItem[], stateOf: StateOf = () => null): ToolLine[] {
  const groups: { readonly calls: ToolItem[]; traits: Traits }[] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    const traits = traitsOf(call, stateOf);
    const common = last ? inCommon(last.traits, traits) : null;
    if (last && common) {
      last.calls.push(call);
      last.traits = common;
    } else groups.push({ calls: [call], traits });
  }
  return groups.map(({ calls: group }) => ({
    key: group[0]?.call ?? '',
    calls: group,
    ...describe(group),
  }));
}

/** The subject that the calls of one line share: that they read, their change or their note. */
type Traits = readonly (string | null)[];

function traitsOf(call: ToolItem, stateOf: StateOf): Traits {
  const edit = editOf(call);
  const note = edit && JSON.stringify([edit.path, edit.waiting, stateOf(call, edit.path)]);
  return [isRead(call) ? 'read' : null, edit && changeOf(call, edit), note];
}

/** The traits that are the same; `null` where none is. */
function inCommon(some: Traits, others: Traits): Traits | null {
  const same = some.map((trait, at) => (trait === others[at] ? trait : null));
  return same.some((trait) => trait !== null) ? same : null;
}

type Edit = Extract<ToolEvent, { type: 'changed' }>;

/** The only change of a call, in a note that was there before. */
function editOf({ isError, output, reactions }: ToolItem): Edit | null {
  if (isError || output === null || reactions.length !== 1) return null;
  const [reaction] = reactions;
  return reaction?.type === 'changed' && !reaction.created ? reaction : null;
}

/** The change that a call made, whichever note it was in. */
function changeOf(call: ToolItem, { waiting }: Edit): string {
  const given = Object.entries(argumentsOf(call))
    .filter(([name]) => name !== 'path' && name !== 'expect_hash')
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([call.tool, waiting, given]);
}

function isRead(call: ToolItem): boolean {
  return (
    !call.isError &&
    call.reactions.length > 0 &&
    call.reactions.every((reaction) => reaction.type === 'read')
  );
}

function describe(group: readonly ToolItem[]): LineText {
  const [call] = group;
  if (!call) return line(sentence('pen', ''));
  const { icon, running, done } = toolKind(call.tool);
  if (call.isError) return { ...line(failure(call)), tone: 'error' };
  if (call.output === null) return line(sentence(icon, running()));
  const reactions = group.flatMap((each) => each.reactions);
  return changes(reactions) ?? found(reactions, call.tool) ?? line(sentence(icon, done()));
}

/** The failure of a call, and its note. */
function failure(call: ToolItem): Sentence {
  const { failed, failedOf } = toolKind(call.tool);
  const path = callArgument(call, 'path') ?? callArgument(call, 'source');
  return path && failedOf ? noteSentence(path, 'cross', failedOf) : sentence('cross', failed());
}

/** The applied or pending changes of a call. */
function changes(reactions: readonly ToolEvent[]): LineText | null {
  // Moved notes come before the notes whose links follow.
  const changed = reactions
    .flatMap((reaction) => change(reaction) ?? [])
    .sort((one, other) => Number(other.to !== null) - Number(one.to !== null));
  if (changed.length === 0) return null;
  const isPending = changed.some(({ waiting }) => waiting);
  const paths = changed.map(({ path }) => path);
  const there = changed.flatMap(({ path, kind, to }) => {
    if (isPending) return [path];
    return kind === 'trash' ? [] : [to ?? path];
  });
  const notes = [...new Set(there)].filter(isNote);
  if (!isPending) return { ...line(effectText(changed), notes), changed: paths };
  return { ...line(proposedText(changed), notes), tone: 'pending', changed: paths };
}

function change(reaction: ToolEvent): (NoteEffect & { readonly waiting: boolean }) | null {
  const plain = { to: null, added: 0, removed: 0 } as const;
  switch (reaction.type) {
    case 'changed':
      return { ...plain, ...reaction, kind: reaction.created ? 'create' : 'replace' };
    case 'moved':
      return { ...plain, ...reaction, kind: 'rename' };
    case 'trashed':
      return { ...plain, ...reaction, kind: 'trash' };
    case 'folder_made':
      return { ...plain, ...reaction, kind: 'make_folder' };
    case 'read':
    case 'open_note':
    case 'show_changes':
    case 'question_asked':
    case 'conversation_ended':
    case 'searched':
    case 'passages':
      return null;
    default:
      return reaction satisfies never;
  }
}

/** The effect of a call that read or searched. */
function found(reactions: readonly ToolEvent[], tool: string): LineText | null {
  const read = [...new Set(reactions.flatMap((r) => (r.type === 'read' ? [r.path] : [])))];
  if (read.length > 0) return reads(read);
  const [first] = reactions;
  if (first?.type === 'open_note') {
    return line(
      noteSentence(first.path, 'note', (note) => m.tool_shown({ note })),
      [first.path],
    );
  }
  if (first?.type === 'searched') return searched(first, tool);
  if (first?.type !== 'passages') return null;
  const notes = [...new Set(first.passages.map(({ path }) => path))];
  // Without a query notes are listed by their tags, properties, links or folder.
  if (first.query.trim() === '') return line(sentence('search', hitText('', first.total)), notes);
  const text = first.total > 0 ? m.tool_passages({ count: first.total, query: first.query }) : null;
  return line(sentence('search', text ?? m.tool_found_nothing({ query: first.query })), notes);
}

function searched(
  { query, hits }: Extract<ToolEvent, { type: 'searched' }>,
  tool: string,
): LineText {
  if (tool === 'get_links') {
    return line(noteSentence(query, 'link', (note) => m.tool_links({ count: hits, note })));
  }
  // Which pattern the files were listed by is in the details.
  return line(sentence('search', hitText(tool === 'list_files' ? '' : query, hits)));
}

function reads(paths: readonly NotePath[]): LineText {
  const [first] = paths;
  if (first && paths.length === 1) {
    return line(
      noteSentence(first, 'book', (note) => m.tool_read({ note })),
      paths,
    );
  }
  return line(sentence('book', m.tool_read_many({ count: paths.length })), paths);
}

function hitText(query: string, hits: number): string {
  if (hits === 0 && query) return m.tool_found_nothing({ query });
  return query ? m.tool_found({ count: hits, query }) : m.tool_listed({ count: hits });
}

function line(text: Sentence, notes: readonly NotePath[] = []): LineText {
  return { ...text, tone: 'plain', notes, changed: [] };
}
