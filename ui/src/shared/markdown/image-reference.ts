/** Parses an image in Markdown: its path, its label and its size. */
import { linkTarget } from './link';

/** The place of an image: in the vault, to be drawn; on the web, where it stays; or none that is shown. */
type ImageLocation = { readonly kind: 'vault' | 'web'; readonly at: string } | null;

/** Kinds of files that Obsidian shows in place; the first ones are drawn here. */
const drawn = /\.(?:png|jpe?g|gif|webp|avif|bmp)$/i;
const undrawn = /\.(?:svg|pdf|flac|m4a|mp3|ogg|wav|webm|3gp|mkv|mov|mp4|ogv)$/i;

/** That of `![…](href)`. */
export function imageLocation(href: string): ImageLocation {
  const written = href.trim().replace(/(?<!&)#.*$/s, '');
  // From the top of the vault.
  const top = /^\/[^/\\]/.test(written) ? '/' : '';
  const target = linkTarget(top ? written.slice(1) : written);
  if (target?.kind === 'note') return inVault(top + target.to);
  const remote = top ? null : linkTarget(href);
  return remote?.kind === 'web' && /^https?:/.test(remote.to)
    ? { kind: 'web', at: remote.to }
    : null;
}

/** That of `![[target]]`; `undefined` where it names a note. */
export function embedLocation(target: string): ImageLocation | undefined {
  const [path = ''] = target.split('#', 1);
  return drawn.test(path) || undrawn.test(path) ? inVault(path.trim()) : undefined;
}

/** The text and the size in the label of an image: `words|300`, `words|300x80`, `300`. */
export function sized(label: string): { readonly alt: string; readonly size: string | null } {
  const match = /^(?:(.*)\|)?\s*([1-9]\d{0,3}(?:x[1-9]\d{0,3})?)\s*$/s.exec(label);
  return { alt: (match ? (match[1] ?? '') : label).trim(), size: match?.[2] ?? null };
}

/** The label of an image without one: the name of its file. */
export function fileName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function inVault(path: string): ImageLocation {
  return undrawn.test(path) ? null : { kind: 'vault', at: path };
}
