/** The channels through which messages come. */
import type { Origin } from '../../ipc/bindings';

/** Whether a message came over the hub. A new answer to it stays in the window. */
export function isFromHub(origin: Origin): boolean {
  return origin === 'hub_text' || origin === 'hub_voice';
}
