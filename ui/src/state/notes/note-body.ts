/** The part of a note that is shown as Markdown. */
import type { NoteText } from '../../ipc/bindings';

/** The text behind the properties. */
export function noteBody({ text, bodyStart }: NoteText): string {
  return text.slice(bodyStart);
}

/** The line of the whole text that the body begins on, 1-based. */
export function bodyLine({ text, bodyStart }: NoteText): number {
  return text.slice(0, bodyStart).split('\n').length;
}
