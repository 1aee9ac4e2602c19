/** The keyboard shortcuts of a review. */
import { m } from '../../messages/messages';
import type { PlaceKey } from '../../shared/input/shortcut';

export const reviewKeys = [
  { id: 'next', keys: 'J', name: () => m.key_next() },
  { id: 'back', keys: 'K', name: () => m.key_previous() },
  { id: 'accept', keys: 'A', name: () => m.accept() },
  { id: 'reject', keys: 'R', name: () => m.reject() },
  { id: 'accept_note', keys: 'Shift+A', name: () => m.key_accept_note() },
  { id: 'reject_note', keys: 'Shift+R', name: () => m.key_reject_note() },
  { id: 'edit', keys: 'E', name: () => m.key_edit_lines() },
  { id: 'undo', keys: 'Mod+Z', name: () => m.key_undo_decision() },
  { id: 'redo', keys: 'Mod+Shift+Z', name: () => m.key_redo_decision() },
  { id: 'redo_too', keys: 'Mod+Y', name: () => m.key_redo_decision() },
  { id: 'apply', keys: 'Mod+Enter', name: () => m.key_apply() },
  { id: 'leave', keys: 'Escape', name: () => m.back_to_conversation() },
] as const satisfies readonly PlaceKey[];
