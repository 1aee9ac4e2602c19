/** Converts Markdown to one line of plain text: links become their labels, and emphasis marks go. */

/** Pairs of signs around words, the longest first. */
const pairs = /(\*{1,3}|~~|==|`+)(?=\S)(.+?)(?<=\S)\1/g;
/** An underscore inside a word is a part of it. */
const underscores = /(?<![\p{L}\p{N}])(_{1,3})(?=\S)(.+?)(?<=\S)\1(?![\p{L}\p{N}])/gu;

export function plainText(markdown: string): string {
  const unlinked = markdown
    .replace(/!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, '$1')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    // The beginning of a longer text may end inside a link.
    .replace(/!?\[\[(?:[^\]|]*\|)?/g, '')
    .replace(/^\s*(?:#{1,6}|>|[-*+])\s+/, '');
  return unmarked(unmarked(unlinked));
}

/** Without the outermost signs around words. */
function unmarked(text: string): string {
  return text.replace(pairs, '$2').replace(underscores, '$2');
}
