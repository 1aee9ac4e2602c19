/** Translates the English sentences of the application into the language of the window. */
import german from '../../../messages/sentences.de.json';
import { getLocale } from '../../messages/runtime';
import { phrasebook } from './phrasebook';

type Translate = (sentence: string) => string;

/** How a reply begins that shows a note: nothing in the note is to be translated. */
const note = '**';
let books: { readonly sentences: Translate; readonly notes: Translate } | null = null;

/** A sentence of the application as the window says it; whatever shows it follows the language. */
export function translateSentence(sentence: string): string {
  return inLanguage(sentence, 'sentences');
}

/** An answer that the application worded itself, as no model is connected. */
export function translateAnswer(answer: string): string {
  return inLanguage(answer, answer.startsWith(note) ? 'notes' : 'sentences');
}

function inLanguage(text: string, book: 'sentences' | 'notes'): string {
  if (getLocale() === 'en') return text;
  books ??= { sentences: phrasebook(german), notes: phrasebook(ofNotes()) };
  return books[book](text);
}

function ofNotes(): Record<string, string> {
  return Object.fromEntries(Object.entries(german).filter(([from]) => from.startsWith(note)));
}
