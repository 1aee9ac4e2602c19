/** The host inside the desktop window; the only file that knows Tauri. */
import { Channel, convertFileSrc, invoke } from '@tauri-apps/api/core';

import type {
  AppliedHunks,
  AppliedPage,
  AppSnapshot,
  ChangedSince,
  ConversationCounts,
  ConversationHits,
  ConversationId,
  ConversationPage,
  ConversationView,
  CountedValues,
  DeletedHistory,
  DesktopState,
  Exported,
  HistoryStats,
  KeyTrial,
  LineMatches,
  LinkRepairs,
  MonthCost,
  NameMatch,
  NameMatches,
  NoteAttribution,
  NoteContent,
  NoteLinks,
  NoteList,
  NumberedEvent,
  PrivateNote,
  ProviderTestResult,
  RegenerateOutcome,
  RepairedLink,
  SavedAnswer,
  Settings,
  TokenStatus,
  TurnCost,
  UndoResult,
  Unlocking,
  VaultId,
} from './bindings';
import type { Host } from './host';

/** The vault that the window shows. */
let shown: VaultId | null = null;

/** A call about the vault that the window shows: it is refused while another one is open. */
function inVault<T>(command: string, request: Record<string, unknown> = {}): Promise<T> {
  return invoke<T>(command, { vault: shown, ...request });
}

export const tauriHost: Host = {
  shows(vault) {
    shown = vault;
  },
  subscribe(receive) {
    const onEvents = new Channel<NumberedEvent[]>();
    onEvents.onmessage = receive;
    return invoke<AppSnapshot>('subscribe', { onEvents });
  },
  openConversation: (conversation, whole) =>
    inVault<ConversationView>('open_conversation', { conversation, whole }),
  openConversationAt: (conversation, turn) =>
    inVault<ConversationView>('open_conversation_at', { conversation, turn }),
  listConversations: (request) => inVault<ConversationPage>('list_conversations', { request }),
  searchConversations: (query) => inVault<ConversationHits>('search_conversations', { query }),
  renameConversation: (conversation, name) =>
    inVault('rename_conversation', { conversation, name }),
  setArchiveState: (conversation, state) =>
    inVault('set_archive_state', { conversation, archiveState: state }),
  endConversation: (conversation) => inVault('end_conversation', { conversation }),
  deleteConversation: (conversation) => inVault('delete_conversation', { conversation }),
  restoreConversation: (conversation) => inVault('restore_conversation', { conversation }),
  conversationCounts: () => inVault<ConversationCounts>('conversation_counts'),
  deleteConversations: () => inVault<ConversationCounts>('delete_conversations'),
  restoreConversations: () => inVault<ConversationPage>('restore_conversations'),
  exportConversations: (conversation, format, name) =>
    inVault<Exported | null>('export_conversations', { conversation, format, name }),
  sendMessage: (request, vault) => inVault<ConversationId>('send_message', { request, vault }),
  stop: (conversation) => inVault('stop', { conversation }),
  continueTurn: (conversation) => inVault('continue_turn', { conversation }),
  editQueued: (message, text) => inVault('edit_queued', { message, text }),
  removeQueued: (message) => inVault('remove_queued', { message }),
  regenerate: (request) => inVault<RegenerateOutcome>('regenerate', { request }),
  showVariant: (message, number) => inVault('show_variant', { message, number }),
  dismissInterruptedTurn: (turn) => inVault('dismiss_interrupted_turn', { turn }),
  compactConversation: (conversation) => inVault('compact_conversation', { conversation }),
  conversationCosts: (conversation) => inVault<TurnCost[]>('conversation_costs', { conversation }),
  monthlyCosts: () => inVault<MonthCost[]>('monthly_costs'),
  decideReview: (request) => inVault('decide_review', { request }),
  listApplied: (request) => inVault<AppliedPage>('list_applied', { request }),
  appliedHunks: (effect) => inVault<AppliedHunks>('applied_hunks', { effect }),
  diffSince: (effect) => inVault<ChangedSince>('diff_since', { effect }),
  assistantLines: (path) => inVault<NoteAttribution>('assistant_lines', { path }),
  undo: (scope) => inVault<UndoResult>('undo', { scope }),
  redo: (scope) => inVault<UndoResult>('redo', { scope }),
  reapply: (effect) => inVault<UndoResult>('reapply', { effect }),
  undoInNote: (identified) => inVault<UndoResult>('undo_in_note', { identified }),
  resolveConflict: (conflict) => inVault<UndoResult>('resolve_conflict', { conflict }),
  stopJob: (work) => invoke('stop_job', { work }),
  history: () => inVault<HistoryStats>('history'),
  deleteHistory: (age) => inVault<DeletedHistory>('delete_history', { age }),
  showNote: (path, by) => inVault<NoteContent>('show_note', { path, by }),
  closeNote: () => inVault('close_note'),
  selectInNote: (path, selected, heading) => inVault('select_in_note', { path, selected, heading }),
  saveAnswer: (answer, name) => inVault<SavedAnswer>('save_answer', { answer, name }),
  openInEditor: (path) => inVault('open_in_editor', { path }),
  openInObsidian: (path) => inVault('open_in_obsidian', { path }),
  imageUrl(link, note) {
    const asked = new URLSearchParams(note === null ? { link } : { link, note });
    return `${convertFileSrc('', 'vault-image')}?${asked}`;
  },
  openImage: (link, note) => inVault('open_image', { link, note }),
  findNames: (query) => inVault<NameMatches>('find_names', { query }),
  notesNamed: (fileName) => inVault<NameMatch[]>('notes_named', { fileName }),
  searchText: (request) => inVault<LineMatches>('search_text', { request }),
  noteLinks: (path) => inVault<NoteLinks | null>('note_links', { path }),
  privateNote: (path) => inVault<PrivateNote | null>('private_note', { path }),
  privateMentions: (mentions) => inVault('private_mentions', { mentions }),
  linkRepairs: (link) => inVault<LinkRepairs | null>('link_repairs', { link }),
  createLinkedNote: (link) => inVault<RepairedLink>('create_linked_note', { link }),
  replaceBrokenLink: (link, note) => inVault<RepairedLink>('replace_broken_link', { link, note }),
  brokenLinks: (links) => inVault<string[] | null>('broken_links', { links }),
  unresolvedLinks: (query) => inVault<CountedValues | null>('unresolved_links', { query }),
  listTags: (query) => inVault<CountedValues | null>('list_tags', { query }),
  listProperties: (query) => inVault<CountedValues | null>('list_properties', { query }),
  propertyValues: (property, query) =>
    inVault<CountedValues | null>('property_values', { property, query }),
  notesMatching: (having) => inVault<NoteList | null>('notes_matching', { having }),
  listTasks: (query) => inVault<LineMatches | null>('list_tasks', { query }),
  readNote: (path) => inVault<NoteContent>('read_note', { path }),
  saveSettings: (settings, before) => invoke<Settings>('save_settings', { settings, before }),
  recoverSettings: (choice) => invoke('recover_settings', { choice }),
  tryKey: (key) => invoke<KeyTrial>('try_key', { key }),
  setKey: (key, place) => invoke('set_key', { key, place }),
  testProvider: () => invoke<ProviderTestResult>('test_provider'),
  unlockKeyring: () => invoke<Unlocking>('unlock_keyring'),
  stopUnlocking: () => invoke('stop_unlocking'),
  retryHub: () => inVault('retry_hub'),
  hubTokenSource: () => invoke<TokenStatus>('hub_token_source'),
  setHubToken: (token, place) => invoke('set_hub_token', { token, place }),
  writeDescription: (organisation) => inVault<string | null>('write_description', { organisation }),
  stopDescription: () => invoke('stop_description'),
  decideApproval: (number, decision) => inVault('decide_approval', { number, decision }),
  chooseVault: () => invoke<boolean>('choose_vault'),
  addExtraRoot: () => invoke<boolean>('add_extra_root'),
  openSample: () => invoke('open_sample'),
  setWindowFocus: (conversation) => invoke('set_window_focus', { conversation }),
  desktopState: () => invoke<DesktopState>('desktop_state'),
  setAutostart: (atLogin) => invoke<DesktopState>('set_autostart', { atLogin }),
  answerCloseRequest: (answer) => invoke('answer_close_request', { answer }),
};
