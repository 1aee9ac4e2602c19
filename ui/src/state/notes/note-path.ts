/** Names and labels for the path of a note. */
import type { NotePath } from '../../ipc/bindings';

/** The note's or folder's own name: no folder, no `.md`. */
export function noteName(path: NotePath): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/i, '');
}

/** The folders it lies in, `/`-separated; empty at the top of the vault. */
export function noteFolder(path: NotePath): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Folders and name, without `.md`. */
export function noteLabel(path: NotePath): string {
  return path.replace(/\.md$/i, '');
}

/** Whether it can be shown as a note; a folder cannot. */
export function isNote(path: NotePath): boolean {
  return /\.md$/i.test(path);
}

/** How a move reads: a new folder, a new name, or both. */
type Move =
  | { readonly type: 'folder'; readonly folder: string }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'both'; readonly label: string };

export function moveOf(from: NotePath, to: NotePath): Move {
  if (noteFolder(from) === noteFolder(to)) return { type: 'name', name: noteName(to) };
  if (noteName(from) === noteName(to)) return { type: 'folder', folder: noteFolder(to) };
  return { type: 'both', label: noteLabel(to) };
}

/** The note that a link's target names: no heading, block or alias. Empty for a place in the note itself. */
export function linkedName(target: string): string {
  return (target.split(/[#|]/, 1)[0] ?? '').trim();
}

/** The path of the note that it names, with `.md`. */
export function linkedNote(target: string): NotePath {
  const name = linkedName(target).replace(/^\.?\//, '');
  return /\.[a-z0-9]{1,5}$/i.test(name) ? name : `${name}.md`;
}
