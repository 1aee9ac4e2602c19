/** What a tool call did, in one line: its effect first. */
import type { NotePath, Reaction } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { around } from '../../shared/around';
import type { IconName } from '../../shared/icons';
import { noteName } from '../../state/note-path';
import type { ToolItem } from './rows';

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
  /** The calls behind it, for arguments and results. */
  readonly calls: readonly ToolItem[];
}

type Changed = Extract<Reaction, { type: 'changed' }>;
type Words = Pick<ToolLine, 'icon' | 'tone' | 'before' | 'note' | 'after' | 'notes'>;

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
  if (call.isError) return { ...sentence('cross', failed(call)), tone: 'error' };
  if (call.output === null) return sentence(icon(call.tool), running(call));
  const reactions = group.flatMap((each) => each.reactions);
  return effect(reactions, call.tool) ?? sentence(icon(call.tool), done(call));
}

function effect(reactions: readonly Reaction[], tool: string): Words | null {
  const changed = reactions.filter((reaction) => reaction.type === 'changed');
  if (changed.length > 0) return changes(changed);
  const read = [...new Set(reactions.flatMap((r) => (r.type === 'read' ? [r.path] : [])))];
  if (read.length > 0) return reads(read);
  const [first] = reactions;
  if (first?.type === 'searched') {
    // Which pattern the files were listed by is in the details.
    return sentence('search', found(tool === 'list_files' ? '' : first.query, first.hits));
  }
  if (first?.type !== 'passages') return null;
  const notes = [...new Set(first.passages.map(({ path }) => path))];
  const text = first.total > 0 ? m.tool_passages({ count: first.total, query: first.query }) : null;
  return { ...sentence('search', text ?? m.tool_found_nothing({ query: first.query })), notes };
}

function changes(changed: readonly Changed[]): Words {
  const [first] = changed;
  const notes = [...new Set(changed.map(({ path }) => path))];
  const tone = changed.some(({ waiting }) => waiting) ? 'waiting' : 'plain';
  if (!first || notes.length > 1) {
    const count = notes.length;
    const text =
      tone === 'waiting' ? m.tool_planned_many({ count }) : m.tool_changed_many({ count });
    return { ...sentence('pen', text), tone, notes };
  }
  return { ...about(first.path, changeIcon(first), changeMessage(first)), tone, notes };
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
  return { icon, tone: 'plain', before, note: noteName(path), after, notes: [] };
}

function sentence(icon: IconName, before: string): Words {
  return { icon, tone: 'plain', before, note: '', after: '', notes: [] };
}

/** What each tool is for; a tool that is not here is shown by its name. */
const kinds: Record<string, 'read' | 'look' | 'change' | 'clock' | 'active' | 'say' | 'end'> = {
  read_file: 'read',
  list_files: 'look',
  search_files: 'look',
  find_notes: 'look',
  get_conversation: 'look',
  edit_file: 'change',
  write_file: 'change',
  append_file: 'change',
  get_active_note: 'active',
  get_current_time: 'clock',
  send_message: 'say',
  end_conversation: 'end',
};

function icon(tool: string): IconName {
  const byKind = {
    read: 'book',
    look: 'search',
    change: 'pen',
    clock: 'clock',
    active: 'note',
    say: 'forward',
    end: 'check',
  } as const;
  const kind = kinds[tool];
  return kind ? byKind[kind] : 'forward';
}

function running({ tool }: ToolItem): string {
  const kind = kinds[tool];
  if (kind === 'read') return m.tool_reading();
  if (kind === 'look') return m.tool_looking();
  if (kind === 'change') return m.tool_changing();
  return m.tool_running({ tool });
}

function done({ tool }: ToolItem): string {
  switch (kinds[tool]) {
    case 'read':
      return m.tool_done_read();
    case 'look':
      return m.tool_done_look();
    case 'change':
      return m.tool_done_change();
    case 'clock':
      return m.tool_done_clock();
    case 'active':
      return m.tool_done_active();
    case 'say':
      return m.tool_done_say();
    case 'end':
      return m.tool_done_end();
    default:
      return tool;
  }
}

function failed({ tool }: ToolItem): string {
  const kind = kinds[tool];
  if (kind === 'read') return m.tool_failed_read();
  if (kind === 'look') return m.tool_failed_look();
  if (kind === 'change') return m.tool_failed_change();
  return m.tool_failed({ tool });
}
