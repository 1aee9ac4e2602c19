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
export function webHost(url: string): string {
  const parsed = parse(url);
  if (!parsed) return '';
  return parsed.protocol === 'mailto:' ? parsed.pathname : parsed.host;
}

function webTarget(url: string): LinkTarget | null {
  const parsed = parse(url);
  if (!parsed || !outside.includes(parsed.protocol) || own.test(parsed.hostname)) return null;
  return { kind: 'web', to: parsed.href };
}

function parse(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Control characters, turned directions and entities can spell one URL and show another. */
function hides(url: string): boolean {
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  return /[\u0000-\u001f\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]|&#?\w+;/.test(url);
}
