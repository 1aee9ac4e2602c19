/** A note's path as people read it. */
import type { NotePath } from '../ipc/bindings';

/** The note's own name: no folder, no `.md`. */
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

/** The path a link's target names: no heading, block or alias, with `.md`. */
export function linkedNote(target: string): NotePath {
  const name = (target.split(/[#|]/, 1)[0] ?? '').trim().replace(/^\.?\//, '');
  return /\.[a-z0-9]{1,5}$/i.test(name) ? name : `${name}.md`;
}
