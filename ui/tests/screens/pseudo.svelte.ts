/**
 * A pseudo language: every letter of the catalogue carries an accent, each message stands in
 * marks and is longer. A text without an accent is data, or was never in the catalogue.
 */
import { type Locale, overwriteGetLocale } from '../../src/messages/runtime';
// It answers for the locale as well, and first.
import '../../src/shared/i18n/language.svelte';
import sentences from '../../messages/sentences.de.json';
import { phrasebook } from '../../src/shared/i18n/phrasebook';

type Say = (inputs?: Record<string, unknown>, options?: object) => string;

/** Around what comes from outside the catalogue. */
const [from, to] = ['\u0001', '\u0002'];
/** The place at which `around` splits a message. */
const split = '\u0000';
/** Dates and numbers in it are Russian: their letters are no Latin ones either. */
const written: Locale = JSON.parse('"ru"');

let active = $state(false);

/** From now on, or no longer. */
export function usePseudo(on: boolean): void {
  active = on;
}

/** The catalogue with each message in the pseudo language while it is on. */
export function pseudo(catalogue: Readonly<Record<string, Say>>): Record<string, Say> {
  overwriteGetLocale(() => (active ? written : 'en'));
  const messages = Object.entries(catalogue).map(([key, say]): [string, Say] => [
    key,
    (inputs = {}, options) =>
      active ? accented(say(marked(inputs), options)) : say(inputs, options),
  ]);
  return Object.fromEntries(messages);
}

const templates = Object.keys(sentences);
const sayPseudo = phrasebook(
  Object.fromEntries(
    templates.map((text) => [
      text,
      text.replaceAll(/\{\w+\}|[a-z]/gi, (found) => (found.length > 1 ? found : `${found}\u0302`)),
    ]),
  ),
);
const markHoles = phrasebook(
  Object.fromEntries(
    templates
      .filter((text) => /\p{L}/u.test(text.replaceAll(/\{\w+\}/g, '')))
      .map((text) => [
        text,
        (text.match(/\{\w+\}/g) ?? ['']).map((hole) => `${from}${hole}${to}`).join(''),
      ]),
  ),
);
const heard: string[] = [];

/** A sentence of the application, in the pseudo language while it is on. */
export function pseudoWorded(sentence: string): string {
  heard.push(sentence);
  return active ? sayPseudo(sentence) : sentence;
}

/** The contents of the holes of the shown sentences: names, numbers, texts of the system. */
export function inHoles(): string[] {
  const hole = new RegExp(`${from}([^${from}${to}]*)${to}`, 'g');
  return heard.flatMap((text) => [...markHoles(text).matchAll(hole)].map(([, held = '']) => held));
}

/** The sentences of the application in a value: they are to be in the pseudo language. */
export function wordedIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    typeof inner === 'string' && wordedKeys.includes(key) ? [inner] : wordedIn(inner),
  );
}

const wordedKeys = ['message', 'trouble', 'problem', 'why', 'error'];

function marked(inputs: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(inputs).map(([key, value]) => [
    key,
    typeof value === 'string' && value !== split ? `${from}${value}${to}` : value,
  ]);
  return Object.fromEntries(entries);
}

function accented(message: string): string {
  let depth = 0;
  const letters = [...message].flatMap((letter) => {
    if (letter === from) depth += 1;
    if (letter === to) depth -= 1;
    if (letter === from || letter === to) return [];
    return depth === 0 && /[a-z]/i.test(letter) ? [`${letter}\u0302`] : [letter];
  });
  return `⟦${letters.join('')} ~~~⟧`;
}

/** The texts under `root` that are neither in the pseudo language nor among `data`. */
export function outsideTheCatalogue(root: Element, data: readonly string[]): string[] {
  const known = data.map(even).join('\n');
  return texts(root)
    .flatMap((text) => text.split(/(?:[a-z]\u0302)+|[⟦⟧()]| [–·/] |, /i))
    .map((piece) => even(piece).replaceAll(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, ''))
    .filter((piece) => /[a-z]{2}/i.test(piece) && !known.includes(piece));
}

const read = ['aria-label', 'aria-description', 'aria-valuetext', 'title', 'placeholder', 'alt'];

/** All that is read on a screen or aloud. */
function texts(root: Element): string[] {
  const found: string[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const inside = walker.currentNode.parentElement?.closest('style, script, [aria-live]');
    if (!inside) found.push(walker.currentNode.textContent ?? '');
  }
  for (const element of root.querySelectorAll('*')) {
    found.push(...read.flatMap((name) => element.getAttribute(name) ?? []));
  }
  return found;
}

/** Every string in a value. */
export function strings(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...strings(inner)]);
}

function even(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
