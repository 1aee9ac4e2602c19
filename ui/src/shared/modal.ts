/** Shows a dialog over everything else for as long as it is there; the focus goes back then. */
import type { Attachment } from 'svelte/attachments';

export const modal: Attachment<HTMLDialogElement> = (dialog) => {
  dialog.showModal();
  return () => dialog.close();
};
