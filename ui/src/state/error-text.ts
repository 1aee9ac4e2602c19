/** Words the errors of the application in the language of the window, by the keys of its catalog. */
import german from '../../messages/core.de.json';
import type { CatalogText, TextArg, UserError } from '../ipc/bindings';
import { getLocale } from '../messages/runtime';
import { translateSentence } from '../shared/i18n/translate-sentence';

const templates: Readonly<Record<string, string>> = german;
/** The placeholders that may hold a text without an entry. All others hold a name, a number or an entry. */
const texts: ReadonlySet<string> = new Set(
  'advice error other problem source time verb what why word'.split(' '),
);

/** The text of an error. One that has no entry, as those of earlier versions, is translated by its English text. */
export function errorText({ message, text }: Pick<UserError, 'message' | 'text'>): string {
  return (text && wording(text)) ?? translateSentence(message);
}

/** The text of an entry; null in English, and where the catalog has no such entry. */
function wording({ key, args }: CatalogText): string | null {
  const isKnown = getLocale() !== 'en' && Object.hasOwn(templates, key);
  const template = isKnown ? templates[key] : undefined;
  if (template === undefined) return null;
  const known = new Map(args);
  let text = '';
  for (const [index, piece] of template.split(/\{(\w+)\}/).entries()) {
    const part = index % 2 === 0 ? piece : argument(piece, known.get(piece));
    if (part === null) return null;
    text += part;
  }
  return text;
}

function argument(name: string, arg: TextArg | undefined): string | null {
  if (arg === undefined) return null;
  if (typeof arg !== 'string') return wording(arg);
  return texts.has(name) ? translateSentence(arg) : arg;
}
