/** Appends plain text to a rendered block without parsing it again. */
import { invisibleRanges } from '../text/invisible';

/**
 * Letters, digits, spaces and commas, and signs as prose has them: at the end of a word of letters, in the
 * middle or before one. Behind a digit a full stop or a bracket may begin a list, and a full stop within
 * a word a URL.
 */
const plainText =
  /^(?:[\p{L}\p{N} ,]|(?<=\p{L})[.:!?)"']+(?= |$)|(?<=\p{L})['-](?=\p{L}|$)|(?<= )[("](?=\p{L}|$))*$/u;
const lastWord = /[\p{L}\p{N}]+$/u;
/** The number of UTF-16 units at the end of a text in which its last word is looked for: each letter may begin one. */
const longestWord = 100;
/** Where a text goes on as it began; a link or a mark may end with any sign. */
const plain = new Set(['P', 'LI', 'STRONG', 'EM', 'DEL', 'TD', 'TH', 'H1', 'H2', 'H3', 'CODE']);

/** Whether `more` behind `text` is more of its last word, or plain text, whatever Markdown may mean. */
export function isPlainText(text: string, more: string): boolean {
  const last = lastWord.exec(text.slice(-2))?.[0];
  return last !== undefined && plainText.test(last + more) && invisibleRanges(more).length === 0;
}

/** The end of the drawn text for a source, where text can be appended. */
export class AppendableBlock {
  readonly #source: string;
  readonly #text: Text;
  readonly #before: string;
  readonly #after: string;

  private constructor(source: string, text: Text, after: string) {
    this.#source = source;
    this.#text = text;
    this.#before = text.data.slice(0, text.data.length - after.length);
    this.#after = after;
  }

  /** That of `source` as it is drawn in `body`; `null` where its last word does not stand at the end. */
  static of(source: string, body: Node): AppendableBlock | null {
    const end = source.slice(-longestWord);
    const word = endsInUrl(source) ? undefined : lastWord.exec(end)?.[0];
    const text = word === undefined ? null : lastText(body);
    const holder = text?.parentElement;
    if (word === undefined || !text || !holder || !plain.has(holder.tagName)) return null;
    // The last line of code is ended by the one who draws it.
    const after = holder.parentElement?.tagName === 'PRE' ? '\n' : '';
    return text.data.endsWith(word + after) ? new AppendableBlock(source, text, after) : null;
  }

  /** Appends the text that `source` has more than the one before, if it is plain; whether it was. */
  goOn(source: string): boolean {
    if (!source.startsWith(this.#source)) return false;
    const more = source.slice(this.#source.length);
    if (!isPlainText(this.#source, more)) return false;
    this.#text.data = this.#before + more.trimEnd() + this.#after;
    return true;
  }

  /** Takes away what was put there. */
  revert(): void {
    this.#text.data = this.#before + this.#after;
  }
}

/** Whether a text ends inside the URL of a link, which is not shown before it ends. */
function endsInUrl(text: string): boolean {
  const begin = text.lastIndexOf('](');
  return begin >= 0 && !/[)\n]/.test(text.slice(begin));
}

/** The last text below a node that is more than blank space. */
function lastText(node: Node): Text | null {
  for (let child = node.lastChild; child; child = child.previousSibling) {
    if (child instanceof Text && child.data.trim() !== '') return child;
    const text = lastText(child);
    if (text) return text;
  }
  return null;
}
