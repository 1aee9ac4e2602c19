/** A dialog over everything else; the focus goes back when it is gone. */
import type { Attachment } from 'svelte/attachments';

/** Shows it for as long as it is there. Esc and a press beside it ask to close it. */
export function modal(onclose: () => void): Attachment<HTMLDialogElement> {
  return (dialog) => {
    const beside = (event: MouseEvent): void => {
      if (event.target === dialog) onclose();
    };
    const cancelled = (event: Event): void => {
      event.preventDefault();
      onclose();
    };
    dialog.addEventListener('click', beside);
    dialog.addEventListener('cancel', cancelled);
    dialog.showModal();
    return () => {
      dialog.removeEventListener('click', beside);
      dialog.removeEventListener('cancel', cancelled);
      dialog.close();
    };
  };
}
