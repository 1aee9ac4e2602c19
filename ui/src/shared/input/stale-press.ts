/** Keeps a button from a press that was meant for what it did before. */
import type { Attachment } from 'svelte/attachments';

/** The time that one takes to see a change below the pointer, in milliseconds. */
export const reactionTime = 500;

/** For a button that keeps its place while its meaning changes: neither the second click of a double click nor a key
 * that is held does the opposite of the first one. */
export function ignoreStalePress(meaning: () => unknown): Attachment<HTMLElement> {
  return (button) => {
    void meaning();
    const since = performance.now();
    const onclick = (event: MouseEvent): void => {
      const isMeant = event.detail <= 1 || performance.now() - since >= reactionTime;
      if (!isMeant) event.stopImmediatePropagation();
    };
    const onkeydown = (event: KeyboardEvent): void => {
      if (event.repeat && event.key === 'Enter') event.preventDefault();
    };
    button.addEventListener('click', onclick, { capture: true });
    button.addEventListener('keydown', onkeydown);
    return () => {
      button.removeEventListener('click', onclick, { capture: true });
      button.removeEventListener('keydown', onkeydown);
    };
  };
}
