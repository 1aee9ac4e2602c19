/** The host inside the desktop window; the only file that knows Tauri. */
import { Channel, convertFileSrc, invoke } from '@tauri-apps/api/core';

import { type AppSnapshot, ipcCalls, type NumberedEvent, type VaultId } from './bindings';
import type { Host } from './host';

/** The vault that the window shows. */
let shown: VaultId | null = null;

/** Makes a call about the vault that the window shows: it is refused while another one is open. */
function invokeInVault<T>(command: string, request: Record<string, unknown>): Promise<T> {
  return invoke<T>(command, { vault: shown, ...request });
}

export const tauriHost: Host = {
  ...ipcCalls(invoke, invokeInVault),
  shows(vault) {
    shown = vault;
  },
  subscribe(receive) {
    const onEvents = new Channel<NumberedEvent[]>();
    onEvents.onmessage = receive;
    return invoke<AppSnapshot>('subscribe', { onEvents });
  },
  imageUrl(link, note) {
    const asked = new URLSearchParams(note === null ? { link } : { link, note });
    return `${convertFileSrc('', 'vault-image')}?${asked}`;
  },
};
