/** A dialog over everything else; the focus goes back when it is gone. */
import { untrack } from 'svelte';
import type { Attachment } from 'svelte/attachments';

/**
 * Shows it for as long as it is there, with the keyboard on its first button or field: what cannot be undone is no
 * first button. A key that is still held from before answers nothing in it. Esc and a press beside it ask to close
 * it; a press that begins within it does not, wherever it ends: text that is selected, an option that moved away
 * under the pointer.
 */
export function modal(onclose: () => void): Attachment<HTMLDialogElement> {
  return (dialog) => {
    let isBeside = false;
    const began = (event: MouseEvent): void => {
      isBeside = event.target === dialog;
    };
    const ended = (event: MouseEvent): void => {
      if (isBeside && event.target === dialog) onclose();
      isBeside = false;
    };
    const cancelled = (event: Event): void => {
      event.preventDefault();
      onclose();
    };
    const held = (event: KeyboardEvent): void => {
      if (event.repeat && event.key === 'Enter') event.preventDefault();
    };
    dialog.addEventListener('keydown', held);
    dialog.addEventListener('mousedown', began);
    dialog.addEventListener('click', ended);
    dialog.addEventListener('cancel', cancelled);
    // What listens for the focus runs now; what it reads must not open the dialog once more, with the caret elsewhere.
    untrack(() => dialog.showModal());
    return () => {
      dialog.removeEventListener('keydown', held);
      dialog.removeEventListener('mousedown', began);
      dialog.removeEventListener('click', ended);
      dialog.removeEventListener('cancel', cancelled);
      dialog.close();
    };
  };
}
