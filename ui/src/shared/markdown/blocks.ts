/** Cuts growing Markdown into blocks, so that only the last one is ever parsed again. */
import { marked } from './dialect';

export class Blocks {
  #text = '';
  #closed: string[] = [];
  #closedLength = 0;

  /**
   * The blocks of the text, in order. A text that only grew keeps its closed blocks as they are;
   * any other text is cut afresh.
   */
  cut(text: string): string[] {
    if (!text.startsWith(this.#text)) {
      this.#closed = [];
      this.#closedLength = 0;
    }
    this.#text = text;
    const open = lex(text.slice(this.#closedLength));
    // The last block may still grow; what stands before it cannot change any more.
    while (open.length > 1) {
      const block = open.shift() ?? '';
      this.#closed.push(block);
      this.#closedLength += block.length;
    }
    return [...this.#closed, ...open];
  }
}

/** Blank space belongs to the block before it, so that the blocks together are the text. */
function lex(text: string): string[] {
  const blocks: string[] = [];
  let rest = text;
  for (const token of marked.lexer(text)) {
    const block = rest.slice(0, token.raw.length);
    rest = rest.slice(block.length);
    const last = blocks.length - 1;
    if (token.type === 'space' && last >= 0) blocks[last] = `${blocks[last] ?? ''}${block}`;
    else blocks.push(block);
  }
  if (rest) blocks.push(rest);
  return blocks;
}
