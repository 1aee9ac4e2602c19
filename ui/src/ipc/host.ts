/** The one port between the window and the application. */
import type { AppSnapshot, IpcCalls, NotePath, NumberedEvent, VaultId } from './bindings';

/** The calls of the list, and what a host does besides. */
export interface Host extends IpcCalls {
  /** From here on what is asked about notes and conversations is asked about this vault, and refused
   * while another one is open. */
  shows(vault: VaultId | null): void;
  /** Opens the feed. Events with a number up to `snapshot.seq` are in the snapshot already. */
  subscribe(onEvents: (events: NumberedEvent[]) => void): Promise<AppSnapshot>;
  /** Where the page finds the image that `link` means in a note, or in an answer. Nothing is there
   * where the vault has no image that is shown. */
  imageUrl(link: string, note: NotePath | null): string;
}
