/** The language of the window. Every text on display follows it at once. */
import { getLocale, type Locale, overwriteGetLocale } from '../../messages/runtime';

/** Resolved before it is overwritten: what the system asks for. */
const system: Locale = getLocale();
let current = $state<Locale>(system);

// Messages ask at each call, so whatever shows one is drawn again when the language changes.
overwriteGetLocale(() => current);

/** Switches to a language; `system` is the one that the system asks for. */
export function setLanguage(language: Locale | 'system'): void {
  const wanted = language === 'system' ? system : language;
  current = wanted;
  // Not read from the state that components depend on: setting the language does not follow it.
  document.documentElement.lang = wanted;
}

/** How dates and numbers are written: as in the system's region, if the language is the same. */
export function region(): string {
  const wanted = getLocale();
  return navigator.languages.find((tag) => tag.split('-')[0] === wanted) ?? wanted;
}
