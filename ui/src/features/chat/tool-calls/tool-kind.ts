/** Each tool's texts: while it runs, when it fails, and when it has no effect to show. */
import { m } from '../../../messages/messages';
import type { IconName } from '../../../shared/components/icons';

interface ToolKind {
  readonly icon: IconName;
  readonly running: () => string;
  readonly failed: () => string;
  /** The same, where it is known of which note; `null` where it is about none. */
  readonly failedOf: ((note: string) => string) | null;
  readonly done: () => string;
}

const read: ToolKind = {
  icon: 'book',
  running: () => m.tool_reading(),
  failed: () => m.tool_failed_read(),
  failedOf: (note) => m.tool_failed_read_of({ note }),
  done: () => m.tool_done_read(),
};

const look: ToolKind = {
  icon: 'search',
  running: () => m.tool_looking(),
  failed: () => m.tool_failed_look(),
  failedOf: null,
  done: () => m.tool_done_look(),
};

const change: ToolKind = {
  icon: 'pen',
  running: () => m.tool_changing(),
  failed: () => m.tool_failed_change(),
  failedOf: (note) => m.tool_failed_change_of({ note }),
  done: () => m.tool_done_change(),
};

const kinds: Record<string, ToolKind> = {
  read_file: read,
  list_files: look,
  search_files: look,
  find_notes: look,
  list_tags: look,
  get_conversation: { ...look, icon: 'chat' },
  read_result: look,
  edit_file: change,
  edit_section: change,
  set_property: change,
  write_file: change,
  append_file: change,
  move_file: {
    icon: 'move',
    running: () => m.tool_moving(),
    failed: () => m.tool_failed_move(),
    failedOf: (note) => m.tool_failed_move_of({ note }),
    done: () => m.tool_done_move(),
  },
  delete_file: {
    icon: 'trash',
    running: () => m.tool_deleting(),
    failed: () => m.tool_failed_delete(),
    failedOf: (note) => m.tool_failed_delete_of({ note }),
    done: () => m.tool_done_delete(),
  },
  create_folder: {
    icon: 'folder',
    running: () => m.tool_folder_making(),
    failed: () => m.tool_failed_folder(),
    failedOf: (note) => m.tool_failed_folder_of({ note }),
    done: () => m.tool_done_folder(),
  },
  get_links: {
    icon: 'link',
    running: () => m.tool_looking_at(),
    failed: () => m.tool_failed_links(),
    failedOf: (note) => m.tool_failed_links_of({ note }),
    done: () => m.tool_done_links(),
  },
  get_file_info: {
    icon: 'note',
    running: () => m.tool_looking_at(),
    failed: () => m.tool_failed_info(),
    failedOf: (note) => m.tool_failed_look_at({ note }),
    done: () => m.tool_done_info(),
  },
  show_note: {
    icon: 'note',
    running: () => m.tool_looking_at(),
    failed: () => m.tool_failed_show(),
    failedOf: (note) => m.tool_failed_show_of({ note }),
    done: () => m.tool_done_show(),
  },
  show_changes: { ...unknown('show_changes', 'undo'), done: () => m.tool_done_changes() },
  get_active_note: { ...unknown('get_active_note', 'note'), done: () => m.tool_done_active() },
  get_current_time: { ...unknown('get_current_time', 'clock'), done: () => m.tool_done_clock() },
  send_message: { ...unknown('send_message', 'forward'), done: () => m.tool_done_say() },
  end_conversation: { ...unknown('end_conversation', 'check'), done: () => m.tool_done_end() },
};

/** A tool that nobody knows here is shown by its name. */
export function toolKind(tool: string): ToolKind {
  return kinds[tool] ?? unknown(tool, 'forward');
}

function unknown(tool: string, icon: IconName): ToolKind {
  return {
    icon,
    running: () => m.tool_running({ tool }),
    failed: () => m.tool_failed({ tool }),
    failedOf: null,
    done: () => tool,
  };
}
