/** Splits growing Markdown into blocks, so that only the last block is parsed again. */
import { Lexer } from 'marked';

import { isTooDeep } from './nesting-depth';

/**
 * A line that has come to a letter, behind whatever makes it an entry, a title, a quote or a row, stays what it
 * is: only what begins a line makes a block of it.
 */
const settled = /^[ \t]*(?:(?:[-*+>|]|#{1,6}|\d{1,9}[.)])[ \t]+)*\p{L}/u;
/** Where it does so later, it is parsed again each time. */
const longestBeginning = 80;

export class Blocks {
  #text = '';
  #closed: string[] = [];
  #closedLength = 0;
  #open: string[] = [];

  /**
   * The blocks of the text, in order. A text that only grew keeps its closed blocks as they are;
   * any other text is cut afresh.
   */
  cut(written: string): string[] {
    const text = written.includes('\r') ? written.replace(/\r\n?/g, '\n') : written;
    if (!text.startsWith(this.#text)) {
      this.#closed = [];
      this.#closedLength = 0;
      this.#text = '';
    }
    const more = text.slice(this.#text.length);
    const last = this.#open.at(-1);
    if (last !== undefined && !more.includes('\n') && isSettled(this.#text)) {
      this.#open = [last + more];
    } else {
      this.#lex(text);
    }
    this.#text = text;
    return [...this.#closed, ...this.#open];
  }

  #lex(text: string): void {
    const open = lex(text.slice(this.#closedLength));
    // The last block may still grow; what stands before it cannot change any more.
    while (open.length > 1) {
      const block = open.shift() ?? '';
      this.#closed.push(block);
      this.#closedLength += block.length;
    }
    this.#open = open;
  }
}

/** Whether the last line of a text stays what it is, whatever is put behind it. */
function isSettled(text: string): boolean {
  const line = text.lastIndexOf('\n') + 1;
  return settled.test(text.slice(line, line + longestBeginning));
}

/** Blank space belongs to the block before it, so that the blocks together are the text. */
function lex(text: string): string[] {
  const blocks: string[] = [];
  let rest = text;
  for (const { type, length } of tokens(text)) {
    const block = rest.slice(0, length);
    rest = rest.slice(length);
    const last = blocks.length - 1;
    if (type === 'space' && last >= 0) blocks[last] = `${blocks[last] ?? ''}${block}`;
    else blocks.push(block);
  }
  if (rest) blocks.push(rest);
  return blocks;
}

/** The outermost tokens only: inline text is parsed when a block is drawn. */
function tokens(text: string): { type: string; length: number }[] {
  if (isTooDeep(text)) return [];
  try {
    return new Lexer({ gfm: true })
      .blockTokens(text)
      .map(({ type, raw }) => ({ type, length: raw.length }));
  } catch {
    // Nesting beyond any sense exhausts the stack of the lexer: then it is one block.
    return [];
  }
}
