/** Sentences about applied and pending changes to notes and folders. */
import type { AppliedNote, ChangeKind, NotePath } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import type { IconName } from '../../shared/components/icons';
import { splitTemplate } from '../../shared/i18n/split-template';
import { moveOf, noteName } from '../notes/note-path';
import { changeIcon } from './change-icon';

/** A change as far as a sentence tells of it. */
export interface NoteEffect {
  readonly path: NotePath;
  readonly kind: ChangeKind;
  /** Where it went, if it moved. */
  readonly to: NotePath | null;
  readonly added: number;
  readonly removed: number;
}

/** The note's name stands apart from the text. */
export interface Sentence {
  readonly icon: IconName;
  readonly before: string;
  readonly note: string;
  readonly after: string;
}

type Message = (note: string) => string;

/** A sentence without a note of its own. */
export function sentence(icon: IconName, before: string): Sentence {
  return { icon, before, note: '', after: '' };
}

/** A sentence about a note or folder. */
export function noteSentence(path: NotePath, icon: IconName, message: Message): Sentence {
  const [before, after] = splitTemplate(message);
  return { icon, before, note: noteName(path), after };
}

/** The sentence of an applied change. */
export function effectText(done: readonly NoteEffect[]): Sentence {
  const { lead, paths, others } = told(done);
  if (lead?.to) return noteSentence(lead.path, 'move', moved(lead.path, lead.to, others));
  if (lead) return noteSentence(lead.path, iconOf(lead), single(lead));
  const count = paths.length;
  const notes = done.every(isContent);
  return sentence('pen', notes ? m.tool_changed_many({ count }) : m.changes_made({ count }));
}

/** Why a change can be neither undone nor redone. */
export function tooOldText({ standing }: AppliedNote): string {
  return standing === 'undone' ? m.standing_too_old_undone() : m.standing_too_old();
}

/** Changes that are proposed for review. */
export function proposedText(done: readonly NoteEffect[]): Sentence {
  const { lead, paths } = told(done);
  if (lead?.to) return noteSentence(lead.path, 'move', proposedMove(lead.path, lead.to));
  const count = done.length;
  if (lead?.kind === 'replace' && count > 1) {
    return noteSentence(lead.path, iconOf(lead), (note) =>
      m.tool_proposed_changes({ count, note }),
    );
  }
  if (lead) return noteSentence(lead.path, iconOf(lead), proposedEffect(lead));
  return sentence('pen', m.tool_proposed_many({ count: paths.length }));
}

interface EffectSummary {
  /** The one that the sentence is about, if there is one. */
  readonly lead: NoteEffect | null;
  readonly paths: readonly NotePath[];
  /** How many notes follow a move with their links. */
  readonly others: number;
}

function told(done: readonly NoteEffect[]): EffectSummary {
  const paths = [...new Set(done.map(({ path }) => path))];
  const moves = done.filter(({ to }) => to !== null);
  const [move] = moves;
  const only = paths.length === 1 ? together(done) : null;
  const follow = moves.length === 1 && done.every((one) => one === move || one.kind === 'replace');
  const lead = move && follow ? move : only;
  return { lead, paths, others: paths.filter((path) => path !== lead?.path).length };
}

/** The changes of one note as one. */
function together(done: readonly NoteEffect[]): NoteEffect | null {
  const [first] = done;
  if (!first || !done.every(({ kind }) => kind === 'replace')) return first ?? null;
  const sum = (count: (one: NoteEffect) => number): number =>
    done.reduce((all, one) => all + count(one), 0);
  return { ...first, added: sum(({ added }) => added), removed: sum(({ removed }) => removed) };
}

function isContent({ kind }: NoteEffect): boolean {
  return kind === 'create' || kind === 'replace';
}

function moved(from: NotePath, to: NotePath, count: number): Message {
  const move = moveOf(from, to);
  return (note) => {
    if (move.type === 'name') {
      const args = { note, to: move.name };
      return count > 0 ? m.tool_renamed_links({ ...args, count }) : m.tool_renamed(args);
    }
    const args = { note, to: move.type === 'both' ? move.label : move.folder || m.folder_top() };
    return count > 0 ? m.tool_moved_links({ ...args, count }) : m.tool_moved(args);
  };
}

function proposedMove(from: NotePath, to: NotePath): Message {
  const move = moveOf(from, to);
  return (note) => {
    if (move.type === 'name') return m.tool_proposed_rename({ note, to: move.name });
    const place = move.type === 'both' ? move.label : move.folder || m.folder_top();
    return m.tool_proposed_move({ note, to: place });
  };
}

function single({ kind, added, removed }: NoteEffect): Message {
  switch (kind) {
    case 'create':
      return (note) => m.tool_created({ note });
    case 'trash':
    case 'trash_folder':
      return (note) => m.tool_trashed({ note });
    case 'make_folder':
      return (note) => m.tool_folder_made({ note });
    case 'restore_folder':
      return (note) => m.tool_folder_restored({ note });
    case 'replace':
    case 'rename':
    case 'rename_folder':
      if (removed === 0 && added > 0) return (note) => m.tool_added({ count: added, note });
      if (added === 0 && removed > 0) return (note) => m.tool_removed({ count: removed, note });
      return (note) => m.tool_changed({ note });
    default:
      return kind satisfies never;
  }
}

function proposedEffect({ kind }: NoteEffect): Message {
  switch (kind) {
    case 'create':
      return (note) => m.tool_proposed_new({ note });
    case 'trash':
    case 'trash_folder':
      return (note) => m.tool_proposed_trash({ note });
    case 'make_folder':
    case 'restore_folder':
      return (note) => m.tool_proposed_folder({ note });
    case 'replace':
    case 'rename':
    case 'rename_folder':
      return (note) => m.tool_proposed({ note });
    default:
      return kind satisfies never;
  }
}

function iconOf({ kind, added, removed }: NoteEffect): IconName {
  if (kind !== 'replace') return changeIcon(kind);
  return removed === 0 && added > 0 ? 'plus' : 'pen';
}
