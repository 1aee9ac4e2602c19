/** The keyboard shortcuts of the composer. */
import { m } from '../../messages/messages';
import type { PlaceKey } from '../../shared/input/shortcut';

export const composerKeys = [
  { id: 'send', keys: 'Enter', name: () => m.send() },
  { id: 'line', keys: 'Shift+Enter', name: () => m.key_new_line() },
  { id: 'edit', keys: 'ArrowUp', name: () => m.key_edit_last() },
  { id: 'mention', keys: '@', name: () => m.key_mention() },
  { id: 'link', keys: '[ [', name: () => m.key_mention() },
] as const satisfies readonly PlaceKey[];
