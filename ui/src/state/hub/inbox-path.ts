/** Checks the path of the note that collects hub messages without a model. */

/** Why a path is none for a note; the application has the last word. */
export type PathFault = 'empty' | 'not_markdown' | 'outside' | 'hidden' | 'reserved';

const devices = /^(con|prn|aux|nul|conin\$|conout\$|clock\$|com[0-9¹²³]|lpt[0-9¹²³])$/i;

/** The first fault of a path; `null` for one that a note in the vault may have. */
export function pathFault(path: string): PathFault | null {
  if (path === '') return 'empty';
  if (/^([/\\]|[a-z]:)/i.test(path)) return 'outside';
  const parts = path.split('/');
  if (parts.includes('..')) return 'outside';
  if (parts.some((part) => part.startsWith('.'))) return 'hidden';
  if (parts.some(isReserved)) return 'reserved';
  return /[^/]\.md$/i.test(path) ? null : 'not_markdown';
}

/** A name that a file system keeps for itself, or cannot hold. */
function isReserved(part: string): boolean {
  const stem = part.split('.', 1)[0] ?? '';
  return part === '' || /[<>:"|?*\\]|[. ]$/.test(part) || devices.test(stem.trim());
}
