/** The text about the changes that a turn made to notes. */
import type { Interruption } from '../../../ipc/bindings';
import { m } from '../../../messages/messages';

export function turnChangesText({ changed, waiting }: Interruption): string {
  const parts = [
    changed > 0 ? m.interrupted_changed({ count: changed }) : '',
    waiting > 0 ? m.interrupted_to_review({ count: waiting }) : '',
  ].filter((part) => part !== '');
  return parts.length > 0 ? parts.join(', ') : m.interrupted_nothing();
}
