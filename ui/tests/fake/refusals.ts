/** The refusals of the fake application, in the text of the real one. */
import type { NotePath, UserError } from '../../src/ipc/bindings';

export const noConversation = other('This conversation no longer exists.');
export const noAnswer = other('This answer no longer exists.');
export const nothingToSummarize = other(
  'There’s nothing to summarize yet. The last six exchanges are never summarized.',
);

export const nothingToUndo = other('This is already undone, or nothing was changed.');
export const nothingToRedo = other('There’s nothing to redo.');

export function noNote(path: NotePath): UserError {
  return other(`There is no note \`${path}\`. List or search the notes to find its path.`);
}

function other(message: string): UserError {
  return { code: 'other', message };
}
