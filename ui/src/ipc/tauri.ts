/** The host inside the desktop window; the only file that knows Tauri. */
import { Channel, invoke } from '@tauri-apps/api/core';

import type {
  AppliedHunks,
  AppliedPage,
  AskedAnew,
  ConversationId,
  ConversationView,
  CountedWords,
  ForgottenHistory,
  FoundLines,
  FoundNames,
  KeptHistory,
  MonthSpent,
  NoteLinks,
  NoteList,
  NoteText,
  Numbered,
  ProviderTest,
  Snapshot,
  TurnSpent,
  Undone,
} from './bindings';
import type { Host } from './host';

export const tauriHost: Host = {
  subscribe(receive) {
    const onEvents = new Channel<Numbered[]>();
    onEvents.onmessage = receive;
    return invoke<Snapshot>('subscribe', { onEvents });
  },
  openConversation: (conversation) =>
    invoke<ConversationView>('open_conversation', { conversation }),
  sendMessage: (request) => invoke<ConversationId>('send_message', { request }),
  stop: (conversation) => invoke('stop', { conversation }),
  continueTurn: (conversation) => invoke('continue_turn', { conversation }),
  editQueued: (message, text) => invoke('edit_queued', { message, text }),
  removeQueued: (message) => invoke('remove_queued', { message }),
  askAnew: (request) => invoke<AskedAnew>('ask_anew', { request }),
  showVariant: (message, number) => invoke('show_variant', { message, number }),
  leaveTurn: (turn) => invoke('leave_turn', { turn }),
  sumUp: (conversation) => invoke('sum_up', { conversation }),
  spentIn: (conversation) => invoke<TurnSpent[]>('spent_in', { conversation }),
  spentByMonth: () => invoke<MonthSpent[]>('spent_by_month'),
  decideReview: (request) => invoke('decide_review', { request }),
  listApplied: (request) => invoke<AppliedPage>('list_applied', { request }),
  appliedHunks: (effect) => invoke<AppliedHunks>('applied_hunks', { effect }),
  undo: (scope) => invoke<Undone>('undo', { scope }),
  redo: (scope) => invoke<Undone>('redo', { scope }),
  reapply: (effect) => invoke<Undone>('reapply', { effect }),
  settleConflict: (conflict) => invoke<Undone>('settle_conflict', { conflict }),
  history: () => invoke<KeptHistory>('history'),
  forgetHistory: (age) => invoke<ForgottenHistory>('forget_history', { age }),
  showNote: (path) => invoke<NoteText>('show_note', { path }),
  closeNote: () => invoke('close_note'),
  selectInNote: (selected, heading) => invoke('select_in_note', { selected, heading }),
  findNames: (query) => invoke<FoundNames>('find_names', { query }),
  searchText: (request) => invoke<FoundLines>('search_text', { request }),
  noteLinks: (path) => invoke<NoteLinks | null>('note_links', { path }),
  unresolvedLinks: (query) => invoke<CountedWords | null>('unresolved_links', { query }),
  listTags: (query) => invoke<CountedWords | null>('list_tags', { query }),
  listProperties: (query) => invoke<CountedWords | null>('list_properties', { query }),
  propertyValues: (property, query) =>
    invoke<CountedWords | null>('property_values', { property, query }),
  notesHaving: (having) => invoke<NoteList | null>('notes_having', { having }),
  listTasks: (query) => invoke<FoundLines | null>('list_tasks', { query }),
  readNote: (path) => invoke<NoteText>('read_note', { path }),
  saveSettings: (settings) => invoke('save_settings', { settings }),
  setKey: (key, place) => invoke('set_key', { key, place }),
  testProvider: () => invoke<ProviderTest>('test_provider'),
  retryHub: () => invoke('retry_hub'),
  pickFolder: () => invoke<string | null>('pick_folder'),
  openVault: (folder) => invoke('open_vault', { folder }),
  openSample: () => invoke('open_sample'),
};
