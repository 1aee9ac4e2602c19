/** The keyboard shortcuts for the focused conversation of the list. */
import { m } from '../../messages/messages';
import type { PlaceKey } from '../../shared/input/shortcut';

export const listKeys = [
  { id: 'rename', keys: 'F2', name: () => m.keep_rename() },
  { id: 'delete', keys: 'Delete', name: () => m.keep_delete() },
] as const satisfies readonly PlaceKey[];
