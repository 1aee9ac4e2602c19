/** Classifies link targets: into the vault, to the web after a question, or to neither. */
type LinkTarget = { readonly kind: 'note' | 'web'; readonly to: string };

const outside = ['http:', 'https:', 'mailto:'];
/** Names under which the window reaches the application itself. */
const own = /(^|\.)localhost$/;

/** `null` for everything that a click must not follow. */
export function linkTarget(href: string): LinkTarget | null {
  const written = href.replaceAll('&amp;', '&').trim();
  if (!written || written.startsWith('#') || hides(written)) return null;
  if (/^[a-z][a-z0-9+.-]*:/i.test(written)) return webTarget(written);
  if (written.startsWith('/') || written.startsWith('\\')) return null;
  return { kind: 'note', to: decoded(written) };
}

/** The host of a URL as a machine would read it: in ASCII, without a user name. */
export function webHost(address: string): string {
  const url = parse(address);
  if (!url) return '';
  return url.protocol === 'mailto:' ? url.pathname : url.host;
}

function webTarget(address: string): LinkTarget | null {
  const url = parse(address);
  if (!url || !outside.includes(url.protocol) || own.test(url.hostname)) return null;
  return { kind: 'web', to: url.href };
}

function parse(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Control characters, turned directions and entities can spell one URL and show another. */
function hides(address: string): boolean {
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  return /[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]|&#?\w+;/.test(address);
}
