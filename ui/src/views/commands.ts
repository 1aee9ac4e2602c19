/** Everything the user can have done, in one table: the palette, the list of shortcuts and the keys of
 * the window all read it. Of two with the same keys the first that applies is meant. */
import type { Mode, Theme } from '../ipc/bindings';
import { m } from '../messages/messages';
import type { IconName } from '../shared/components/icons';
import type { Command } from '../shared/input/command';
import type { Keys } from '../shared/input/shortcut';
import { isFromHub } from '../state/chat/message-origin';
import type { Session } from '../state/session.svelte';
import { settingsSections } from '../state/settings/settings-route';
import { sectionName } from './settings/section-names';

/** Actions that only the window around the session can do. */
interface Around {
  readonly palette: () => void;
  readonly shortcuts: () => void;
  /** Begins another conversation; the keyboard is where one writes then. */
  readonly openNew: () => void;
  /** Shows the list of conversations, and begins a search in them. */
  readonly lookFor: () => void;
  /** Shows the list with the open conversation in it. */
  readonly list: () => Promise<void>;
  readonly search: () => void;
  readonly closeNote: () => void;
  /** Whether the note stands in the chat's place. */
  readonly isChatCovered: () => boolean;
  /** Gives the keyboard back to where one goes on. */
  readonly focus: () => void;
}

export function commandsOf(session: Session, around: Around): readonly Command[] {
  return [
    ...going(session, around),
    ...talking(session, around),
    ...keeping(session, around),
    ...changing(session),
    ...setting(session),
  ];
}

/** Where the window leads. */
function going(session: Session, around: Around): Command[] {
  const { place } = session;
  return [
    one('palette', () => m.palette(), 'keyboard', around.palette, 'Mod+K'),
    one('new', () => m.new_conversation(), 'write', around.openNew, 'Mod+N'),
    one(
      'note',
      () => m.switcher(),
      'note',
      () => session.switcher.show(),
      'Mod+P',
    ),
    one('search', () => m.command_search(), 'search', around.search, 'Mod+Shift+F'),
    one('said', () => m.conversation_search_field(), 'chat', around.lookFor, 'Mod+Shift+K'),
    {
      ...one(
        'review',
        () => m.command_review(),
        'review',
        () => session.openReview(),
        'Mod+R',
      ),
      applies: () => session.place.name !== 'review' && Boolean(session.app.chat?.review),
    },
    one(
      'changes',
      () => m.changes(),
      'clock',
      () => session.openChanges(),
      'Mod+Shift+H',
    ),
    one(
      'settings',
      () => m.settings(),
      'gear',
      () => session.openSettings(),
      'Mod+,',
    ),
    {
      ...one('shortcuts', () => m.shortcuts(), 'keyboard', around.shortcuts, '?'),
      typing: 'is_text',
    },
    {
      ...one(
        'chat',
        () => m.back_to_conversation(),
        'back',
        () => session.backToChat(),
      ),
      applies: () => place.name !== 'chat',
    },
  ];
}

/** Commands on the answer and the note in front of the user. */
function talking(session: Session, around: Around): Command[] {
  const { app } = session;
  const inChat = (): boolean => session.place.name === 'chat';
  const stop = (): void => {
    void session.stop();
    around.focus();
  };
  const openIn = (program: 'obsidian' | 'editor') => (): void =>
    void session.note.links.openIn(program);
  const retry = (): void => {
    const last = app.chat?.lastMessage;
    if (last) void session.turnActions.regenerate(last.id, null);
  };
  const regenerateHint = (): string | null => {
    const last = app.chat?.lastMessage;
    return last && isFromHub(last.origin) ? m.message_regenerate_hub() : null;
  };
  const save = (): void => {
    if (session.answerSaver.last !== null) session.answerSaver.begin(session.answerSaver.last);
  };
  return [
    {
      ...one('save_answer', () => m.command_save_answer(), 'note', save, 'Mod+Shift+S'),
      applies: () => inChat() && session.answerSaver.last !== null,
    },
    {
      ...one(
        'edit',
        () => m.command_edit(),
        'pen',
        () => session.turnActions.editLast(),
      ),
      applies: () => inChat() && session.turnActions.canEditLast,
    },
    {
      ...one('stop', () => m.command_stop(), 'stop', stop, 'Escape'),
      applies: () => inChat() && !around.isChatCovered() && Boolean(app.current?.working),
    },
    {
      ...one('close_note', () => m.note_close(), 'cross', around.closeNote, 'Escape'),
      applies: () => inChat() && app.note !== null,
    },
    {
      ...one('obsidian', () => m.note_obsidian(), 'forward', openIn('obsidian')),
      applies: () => app.note?.removed === false,
    },
    {
      ...one('editor', () => m.note_editor(), 'forward', openIn('editor')),
      applies: () => app.note?.removed === false,
    },
    {
      ...one('retry', () => m.command_regenerate(), 'retry', retry, 'Mod+Shift+R'),
      hint: regenerateHint,
      applies: () => inChat() && Boolean(app.chat?.lastMessage) && !app.current?.working,
    },
  ];
}

/** Commands on the conversation in front of the user. */
function keeping(session: Session, around: Around): Command[] {
  const row = session.app.current;
  const { conversationActions: keep } = session;
  const of = (id: string, name: () => string, icon: IconName, run: () => void): Command => ({
    ...one(id, name, icon, run),
    applies: () => row !== null && session.place.name !== 'settings',
  });
  const state = row?.archived ? 'archived' : 'open';
  const rename = async (): Promise<void> => {
    void keep.show(state);
    await around.list();
    if (row) keep.rename(row.id);
  };
  const other = state === 'open' ? 'archived' : 'open';
  return [
    {
      ...of(
        'rename',
        () => m.command_rename(),
        'pen',
        () => void rename(),
      ),
      keys: 'F2',
    },
    {
      ...of(
        'end',
        () => m.command_end(),
        'check',
        () => row && void keep.end(row),
      ),
      applies: () => row?.state === 'active' && !row.working,
    },
    of(
      'put',
      () => (state === 'open' ? m.command_archive() : m.command_unarchive()),
      'box',
      () => row && void keep.setArchiveState(row, other),
    ),
    of(
      'export',
      () => m.export_markdown(),
      'disk',
      () => row && void keep.export(row, 'markdown'),
    ),
    of(
      'delete',
      () => m.command_delete(),
      'trash',
      () => row && void keep.delete(row),
    ),
  ];
}

/** Undo and redo. In a text field these keys belong to the typed text, and in a review nothing that is in front
 * of the user is applied yet. */
function changing(session: Session): Command[] {
  const isApplied = (): boolean => session.place.name !== 'review';
  const { undo: changes, conversationActions: keep } = session;
  const undo = (): void => {
    // A notice may be older than the last change.
    const isLast = keep.notice?.undo && keep.notice.at >= changes.lastAt;
    void (isLast ? keep.undoLast() : changes.undoLast());
  };
  const redo = (): void => void changes.redoLast();
  return [
    {
      ...one('undo', () => m.command_undo(), 'undo', undo, 'Mod+Z'),
      typing: 'is_text',
      applies: isApplied,
    },
    {
      ...one('redo', () => m.command_redo(), 'redo', redo, 'Mod+Shift+Z'),
      typing: 'is_text',
      applies: () => isApplied() && changes.canRedoLast,
    },
  ];
}

/** Settings that can be changed without opening them, and their sections. */
function setting(session: Session): Command[] {
  const { settings } = session.app;
  const modes: Readonly<Record<Mode, () => string>> = {
    review: () => m.mode_review(),
    auto: () => m.mode_auto(),
    read_only: () => m.mode_read_only(),
  };
  const themes: Readonly<Record<Theme, () => string>> = {
    system: () => m.theme_system(),
    light: () => m.theme_light(),
    dark: () => m.theme_dark(),
  };
  return [
    ...(['review', 'auto', 'read_only'] as const).map((mode) => ({
      ...one(
        `mode_${mode}`,
        () => m.command_mode({ mode: modes[mode]() }),
        mode === 'read_only' ? 'lock' : 'review',
        () => void session.save({ mode }),
      ),
      applies: () => settings.mode !== mode,
    })),
    ...(['system', 'light', 'dark'] as const).map((theme) => ({
      ...one(
        `theme_${theme}`,
        () => m.command_theme({ theme: themes[theme]() }),
        'gear',
        () => void session.save({ theme }),
      ),
      applies: () => settings.theme !== theme,
    })),
    ...settingsSections.map((section) =>
      one(
        `settings_${section}`,
        () => m.command_settings({ section: sectionName(section) }),
        'gear',
        () => session.openSettings(section),
      ),
    ),
  ];
}

/** A command that can be done at any time, also while something is being typed. */
function one(
  id: string,
  name: () => string,
  icon: IconName,
  run: () => void,
  keys?: Keys,
): Command {
  return { id, name, icon, run, applies: () => true, typing: 'counts', ...(keys && { keys }) };
}
