/** What a tool call did, in one line: its effect first. */
import type { NotePath, Reaction } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { around } from '../../shared/around';
import type { IconName } from '../../shared/icons';
import { isNote, moveOf, noteName } from '../../state/note-path';
import type { ToolItem } from './rows';
import { toolKind } from './tool-kind';

export interface ToolLine {
  readonly key: string;
  readonly icon: IconName;
  readonly tone: 'plain' | 'error' | 'waiting';
  /** The line's words; the note's name stands between the two. */
  readonly before: string;
  readonly note: string;
  readonly after: string;
  /** Notes that opening the line lists. */
  readonly notes: readonly NotePath[];
  /** What was prepared for the user's verdict. */
  readonly prepared: readonly NotePath[];
  /** The calls behind it, for arguments and results. */
  readonly calls: readonly ToolItem[];
}

type Changed = Extract<Reaction, { type: 'changed' }>;
type Moved = Extract<Reaction, { type: 'moved' }>;
type Words = Omit<ToolLine, 'key' | 'calls'>;

/** One line a call; reads that follow each other share one. */
export function toolLines(calls: readonly ToolItem[]): ToolLine[] {
  const groups: ToolItem[][] = [];
  for (const call of calls) {
    const last = groups.at(-1);
    if (last?.[0] && isRead(last[0]) && isRead(call)) last.push(call);
    else groups.push([call]);
  }
  return groups.map((group) => ({
    key: group[0]?.call ?? '',
    calls: group,
    ...words(group),
  }));
}

function isRead(call: ToolItem): boolean {
  return (
    !call.isError &&
    call.reactions.length > 0 &&
    call.reactions.every((reaction) => reaction.type === 'read')
  );
}

function words(group: readonly ToolItem[]): Words {
  const [call] = group;
  if (!call) return sentence('pen', '');
  const { icon, running, failed, done } = toolKind(call.tool);
  if (call.isError) return { ...sentence('cross', failed()), tone: 'error' };
  if (call.output === null) return sentence(icon, running());
  const reactions = group.flatMap((each) => each.reactions);
  const prepared = reactions.flatMap((each) =>
    'waiting' in each && each.waiting ? [each.path] : [],
  );
  const shown = effect(reactions, call.tool) ?? sentence(icon, done());
  return prepared.length > 0 ? { ...shown, tone: 'waiting', prepared } : shown;
}

function effect(reactions: readonly Reaction[], tool: string): Words | null {
  const changed = reactions.filter((reaction) => reaction.type === 'changed');
  for (const reaction of reactions) {
    if (reaction.type === 'moved') return moved(reaction, changed);
    if (reaction.type === 'trashed') return trashed(reaction);
    if (reaction.type === 'folder_made') return folderMade(reaction);
  }
  if (changed.length > 0) return changes(changed);
  const read = [...new Set(reactions.flatMap((r) => (r.type === 'read' ? [r.path] : [])))];
  if (read.length > 0) return reads(read);
  const [first] = reactions;
  if (first?.type === 'searched') return searched(first, tool);
  if (first?.type !== 'passages') return null;
  const notes = [...new Set(first.passages.map(({ path }) => path))];
  const text = first.total > 0 ? m.tool_passages({ count: first.total, query: first.query }) : null;
  return { ...sentence('search', text ?? m.tool_found_nothing({ query: first.query })), notes };
}

/** A move with the notes whose links follow it. */
function moved({ path, to, waiting }: Moved, linking: readonly Changed[]): Words {
  const count = linking.length;
  const notes = [waiting ? path : to, ...linking.map((change) => change.path)].filter(isNote);
  const move = moveOf(path, to);
  const message = (note: string): string => {
    if (move.type === 'name') {
      const args = { note, to: move.name };
      if (waiting) return m.tool_planned_rename(args);
      return count > 0 ? m.tool_renamed_links({ ...args, count }) : m.tool_renamed(args);
    }
    const args = { note, to: move.type === 'both' ? move.label : move.folder || m.folder_top() };
    if (waiting) return m.tool_planned_move(args);
    return count > 0 ? m.tool_moved_links({ ...args, count }) : m.tool_moved(args);
  };
  return { ...about(path, 'move', message), notes };
}

function trashed({ path, waiting }: Extract<Reaction, { type: 'trashed' }>): Words {
  if (!waiting) return about(path, 'trash', (note) => m.tool_trashed({ note }));
  const words = about(path, 'trash', (note) => m.tool_planned_trash({ note }));
  return { ...words, notes: [path].filter(isNote) };
}

function folderMade({ path, waiting }: Extract<Reaction, { type: 'folder_made' }>): Words {
  return about(path, 'folder', (note) =>
    waiting ? m.tool_planned_folder({ note }) : m.tool_folder_made({ note }),
  );
}

function searched({ query, hits }: Extract<Reaction, { type: 'searched' }>, tool: string): Words {
  if (tool === 'get_links') {
    return about(query, 'link', (note) => m.tool_links({ count: hits, note }));
  }
  // Which pattern the files were listed by is in the details.
  return sentence('search', found(tool === 'list_files' ? '' : query, hits));
}

function changes(changed: readonly Changed[]): Words {
  const [first] = changed;
  const notes = [...new Set(changed.map(({ path }) => path))];
  if (!first || notes.length > 1) {
    const count = notes.length;
    const waits = changed.some(({ waiting }) => waiting);
    const text = waits ? m.tool_planned_many({ count }) : m.tool_changed_many({ count });
    return { ...sentence('pen', text), notes };
  }
  return { ...about(first.path, changeIcon(first), changeMessage(first)), notes };
}

function changeMessage(change: Changed): (note: string) => string {
  const { created, added, removed, waiting } = change;
  if (waiting) {
    return (note) => (created ? m.tool_planned_new({ note }) : m.tool_planned({ note }));
  }
  if (created) return (note) => m.tool_created({ note });
  if (removed === 0) return (note) => m.tool_added({ count: added, note });
  if (added === 0) return (note) => m.tool_removed({ count: removed, note });
  return (note) => m.tool_changed({ note });
}

function changeIcon({ created, removed }: Changed): IconName {
  if (created) return 'note';
  return removed === 0 ? 'plus' : 'pen';
}

function reads(paths: readonly NotePath[]): Words {
  const [first] = paths;
  if (first && paths.length === 1) {
    return { ...about(first, 'book', (note) => m.tool_read({ note })), notes: paths };
  }
  return { ...sentence('book', m.tool_read_many({ count: paths.length })), notes: paths };
}

function found(query: string, hits: number): string {
  if (hits === 0 && query) return m.tool_found_nothing({ query });
  return query ? m.tool_found({ count: hits, query }) : m.tool_listed({ count: hits });
}

function about(path: NotePath, icon: IconName, message: (note: string) => string): Words {
  const [before, after] = around(message);
  return { ...sentence(icon, before), note: noteName(path), after };
}

function sentence(icon: IconName, before: string): Words {
  return { icon, tone: 'plain', before, note: '', after: '', notes: [], prepared: [] };
}
