/** Names for hunks that last: a hunk keeps its name when changes above it are added or go. */
import type { NoteDiff } from '../../ipc/bindings';

/** Names a hunk by its note and its lines. */
export function hunkId(note: NoteDiff, index: number): string {
  return `hunk:${hunkKeys(note)[index] ?? index}:${note.path}`;
}

const keysOfNotes = new WeakMap<NoteDiff, readonly string[]>();

/** For each hunk a hash of its lines, and how many before it have the same. */
function hunkKeys(note: NoteDiff): readonly string[] {
  const known = keysOfNotes.get(note);
  if (known) return known;
  const seen = new Map<number, number>();
  const keys = note.hunks.map(({ heading, lines }) => {
    const hash = hashOf(JSON.stringify([heading, lines]));
    const before = seen.get(hash) ?? 0;
    seen.set(hash, before + 1);
    return `${hash.toString(36)}-${before}`;
  });
  keysOfNotes.set(note, keys);
  return keys;
}

/** FNV-1a over the UTF-16 units, in 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return hash >>> 0;
}
