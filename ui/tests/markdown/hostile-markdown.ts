/** Hostile Markdown in a page, this one: shown, pressed, looked at. Runs in jsdom and in real browsers. */
import { flushSync, mount, unmount } from 'svelte';

import { webHost } from '../../src/shared/markdown/link';
import Markdown from '../../src/shared/markdown/Markdown.svelte';

export interface Case {
  readonly id: string;
  readonly class: string;
  readonly markdown: string | null;
  readonly generate?: {
    readonly repeat?: string;
    readonly n: number;
    readonly rows?: number;
    readonly text?: string;
  };
}

interface TrialResult {
  readonly id: string;
  /** The rules that do not hold, as text. */
  readonly wrong: readonly string[];
}

/** Puts text into the element; answers how to take it out again. */
type Show = (target: Element, text: string, streaming: boolean) => () => void;

const tags = new Set(
  'div p br hr h1 h2 h3 h4 h5 h6 blockquote pre code ul ol li table thead tbody tr th td a em strong del kbd sub sup mark span button img'.split(
    ' ',
  ),
);
const attributes = new Set(
  'class dir role tabindex data-note data-web data-task data-here start align aria-hidden title data-image data-size data-undrawn data-drawn type src alt loading decoding width height'.split(
    ' ',
  ),
);
/** The placeholder for every image of the vault: no other may be shown, whatever is written. */
const image = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=';
const outside = ['http:', 'https:', 'mailto:'];
const isEngine = !navigator.userAgent.includes('jsdom');
/** In milliseconds: no case may take longer to be drawn by an engine that people use. */
const slow = isEngine ? 2_000 : Infinity;
/** A text that is no longer is also shown letter by letter, as it would come. */
const streamed = 60;

/** Forbidden effects of the page. */
const done: string[] = [];

/** As the window shows it, with its last line looked for as that of a search hit. */
export const ours: Show = (target, text, streaming) => {
  const followed = (url: string): void => {
    const host = webHost(url);
    const plain = /^[\x20-\x7e]*$/.test(host) && outside.includes(new URL(url).protocol);
    if (!plain) done.push(`leads to ${url}, called ${host}`);
  };
  const images = { urlOf: () => image, open: () => undefined };
  const at = streaming ? null : text.split('\n').length - 1;
  const props = { text, streaming, at, images, onnote: () => undefined, onweb: followed };
  const shown = mount(Markdown, { target, props });
  flushSync();
  return () => void unmount(shown);
};

/** Tries every case. */
export async function trial(cases: readonly Case[], show: Show): Promise<TrialResult[]> {
  Object.assign(window, {
    __TAURI_INTERNALS__: { invoke: (command: string) => void done.push(`calls ${command}`) },
  });
  // Its requests are seen to the end, not only the first 250.
  if (isEngine) performance.setResourceTimingBufferSize(1_000_000);
  const outcomes: TrialResult[] = [];
  for (const one of cases) outcomes.push({ id: one.id, wrong: await wrongIn(one, show) });
  return outcomes;
}

async function wrongIn(one: Case, show: Show): Promise<string[]> {
  const text = written(one);
  const target = document.body.appendChild(document.createElement('main'));
  const before = requests().length;
  done.length = 0;
  const began = performance.now();
  const remove = show(target, text, false);
  const took = performance.now() - began;
  if (took > slow) done.push(`takes ${Math.round(took)} ms`);
  done.push(...strangers(target), ...lost(one, target));
  await press(target);
  remove();
  for (let end = 1; end < text.length && text.length <= streamed; end += 1) {
    const removeOpen = show(target, text.slice(0, end), true);
    done.push(...strangers(target));
    removeOpen();
  }
  await moment();
  if ('__pwned' in window) done.push('runs what was written');
  Reflect.deleteProperty(window, '__pwned');
  done.push(
    ...requests()
      .slice(before)
      .map((url) => `asks for ${url}`),
  );
  target.remove();
  return [...new Set(done)];
}

function written({ markdown, generate }: Case): string {
  if (markdown !== null || !generate) return markdown ?? '';
  if (generate.text !== undefined) return generate.text;
  const line = (generate.repeat ?? '').repeat(generate.n);
  return generate.rows ? `${line}\n`.repeat(2) + '|a\n'.repeat(generate.rows) : line;
}

/** Elements and attributes that are not on the list, and differences of another parse. */
function strangers(root: Element): string[] {
  const found: string[] = [];
  for (const element of root.querySelectorAll('*')) {
    if (!tags.has(element.localName)) found.push(`shows <${element.localName}>`);
    const source = element.getAttribute('src');
    if (source !== null && source !== image) found.push(`loads ${source}`);
    for (const { name } of element.attributes) {
      if (!attributes.has(name)) found.push(`shows ${element.localName}[${name}]`);
    }
  }
  if (root.innerHTML.length < 200_000) {
    const again = document.createElement('template');
    again.innerHTML = root.innerHTML;
    if (again.innerHTML !== root.innerHTML) found.push('is read in another way the second time');
  }
  return found;
}

/** The text of harmless parts stays. */
function lost({ class: kind, markdown }: Case, root: Element): string[] {
  if (kind !== 'P-positive' || markdown === null) return [];
  const words = markdown.replaceAll(/\]\([^)]*\)|\[\[[^\]|]*\||```\w+/g, ' ').match(/\p{L}{2,}/gu);
  return (words ?? [])
    .filter((word) => !root.textContent.includes(word))
    .map((word) => `loses “${word}”`);
}

/** Everything is clicked, pointed at and given the focus; of very much, what comes first. */
async function press(root: Element): Promise<void> {
  for (const element of [...root.querySelectorAll<HTMLElement>('*')].slice(0, 200)) {
    element.focus?.();
    for (const type of ['pointerover', 'mouseover', 'mousedown', 'mouseup', 'click']) {
      element.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
    }
  }
  await moment();
}

let moments = 0;

/** Long enough for what was started to begin: until an image has failed that was asked for behind it. */
async function moment(): Promise<void> {
  if (isEngine) {
    const behind = new Image();
    await new Promise((resolve) => {
      behind.addEventListener('error', resolve);
      moments += 1;
      behind.src = `/tests/no-image?${moments}`;
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 20));
}

function requests(): string[] {
  // A browser asks for the icon of a page on its own.
  const known = /\/(src|node_modules|tests|@\w+)\/|^[^?]*\/favicon\.ico$/;
  return performance
    .getEntriesByType('resource')
    .map(({ name }) => name)
    .filter((name) => !known.test(name) && name !== image);
}
