/** The sentences that stand in the Rust sources, as templates with named holes. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A sentence, or a text that stands in the hole of one. */
export interface SentenceTemplate {
  readonly file: string;
  readonly line: number;
  readonly text: string;
  /** Whether it has a text of its own: otherwise it only holds others together. */
  readonly says: boolean;
}
type Found = Omit<SentenceTemplate, 'file'>;

/** Whose literals nobody reads: what they are given is compared, logged, asked of SQLite or a bug. */
const unread = new Set(
  [
    'expect expect_err panic! unreachable! todo! assert! assert_eq! assert_ne! matches!',
    'debug_assert! debug_assert_eq! trace! debug! info! warn! error! contains starts_with ends_with',
    'strip_prefix strip_suffix trim_start_matches split split_once find rfind replace',
    'eq_ignore_ascii_case query query_as query_scalar query_with',
  ].flatMap((line) => line.split(' ')),
);
/** Whose literals are put into a sentence, also where they are a single word. */
const filled = new Set(['system', 'trouble', 'not_found', 'refused']);
/** Calls whose own arguments are only logged: the action of the store that failed. */
const logged = new Set(['commit!', 'commit_relaxed!', 'read!', 'read_one!', 'doing', 'from_sql']);
/** Statements and parts of them: a word of SQL, or columns. */
const sql =
  /\b(SELECT|INSERT|UPDATE|DELETE|WHERE|PRAGMA|ORDER BY|JOIN|FROM|BEGIN|BETWEEN|CAST|IS NULL|AS)\b|\bcoalesce\(|\b[a-z]+_[a-z_]+, [a-z]/;

const token = new RegExp(
  [
    String.raw`//[^\n]*|/\*[\s\S]*?\*/`,
    String.raw`(?<test>#\[cfg\((?:test|any\(test[^\]]*)\)\])`,
    String.raw`(?<attribute>#!?\[)`,
    String.raw`(?<bytes>b?)r(?<hashes>#*)"(?<raw>[\s\S]*?)"\k<hashes>`,
    String.raw`(?<b>b?)"(?<string>(?:\\[\s\S]|[^"\\])*)"`,
    String.raw`'(?:\\(?:u\{[^}]*\}|.)|[^'\\])'`,
    String.raw`(?<call>[A-Za-z_]\w*!?)\s*(?:::<[^()]*>)?(?=\()`,
    String.raw`(?<open>[([{])|(?<close>[)\]}])|(?<end>;)`,
  ].join('|'),
  'gu',
);

/** The templates in one source, and the modules in it that are only tests. */
export function templates(source: string): { found: Found[]; tests: string[] } {
  const found: Found[] = [];
  const tests: string[] = [];
  const around: string[] = [];
  let call = '';
  const tokens = new RegExp(token);
  for (let at = tokens.exec(source); at; at = tokens.exec(source)) {
    const { groups = {} } = at;
    if (groups.test) {
      const [, name] =
        /^\s*(?:pub(?:\([^)]*\))?\s+)?mod (\w+);/.exec(source.slice(tokens.lastIndex)) ?? [];
      if (name) tests.push(name);
      pastItem(tokens, source);
    } else if (groups.attribute) {
      around.push(`#${/^\w+/.exec(source.slice(tokens.lastIndex))?.[0] ?? ''}`);
    } else if (groups.call) call = groups.call;
    else if (groups.open) {
      around.push(call);
      call = '';
    } else if (groups.close) around.pop();
    const words = literal(groups);
    const before = source.slice(Math.max(0, at.index - 8), at.index);
    const isFilled = filled.has(around.at(-1) ?? '') || /(verb|what): *$/.test(before);
    if (words !== null && isRead(around) && !logged.has(around.at(-1) ?? '')) {
      const says = isProse(words) || (isFilled && /^[a-z]+$/.test(words));
      found.push({ text: named(words), line: lineAt(source, at.index), says });
    }
  }
  return { found, tests };
}

/** Every template in the folders and files, but those of tests. */
export function templatesIn(root: string, folders: readonly string[]): SentenceTemplate[] {
  const tests: string[] = [];
  const all = folders.flatMap((folder) =>
    rustFiles(root, folder).flatMap((file): SentenceTemplate[] => {
      const { found, tests: modules } = templates(readFileSync(join(root, file), 'utf8'));
      const below = /\/(mod|lib|main)\.rs$/.test(file) ? dirname(file) : file.replace(/\.rs$/, '');
      tests.push(...modules.map((module) => `${below}/${module}`));
      return found.map((one) => ({ ...one, file }));
    }),
  );
  return all.filter(
    ({ file }) => !tests.some((test) => file === `${test}.rs` || file.startsWith(`${test}/`)),
  );
}

function rustFiles(root: string, folder: string): string[] {
  if (folder.endsWith('.rs')) return [folder];
  const entries = readdirSync(join(root, folder), { withFileTypes: true });
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) return rustFiles(root, path);
      return path.endsWith('.rs') ? [path] : [];
    });
}

function lineAt(source: string, at: number): number {
  return source.slice(0, at).split('\n').length;
}

/** Moves the tokens past the item that an attribute is of. */
function pastItem(tokens: RegExp, source: string): void {
  let depth = 0;
  for (let at = tokens.exec(source); at; at = tokens.exec(source)) {
    const { groups = {} } = at;
    if (groups.open || groups.attribute) depth += 1;
    if (groups.close) depth -= 1;
    // It is a field or a line of a list, and this closes what holds it.
    if (depth < 0) {
      tokens.lastIndex = at.index;
      return;
    }
    if (depth === 0 && (groups.close === '}' || groups.end)) return;
  }
}

/** The text of a literal; null for other tokens, or bytes. */
function literal({ bytes, raw, b, string }: Record<string, string | undefined>): string | null {
  if (raw !== undefined) return bytes ? null : raw;
  if (string === undefined || b) return null;
  return string
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll(/\\u\{(\w+)\}/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)))
    .replaceAll('\\n', '\n')
    .replaceAll(/\\(["'\\])/g, '$1');
}

/** Attributes speak to the compiler, but for those that word an error. */
function isRead(around: readonly string[]): boolean {
  const attribute = around.find((name) => name.startsWith('#'));
  if (attribute) return attribute === '#error';
  return !around.some((name) => unread.has(name));
}

function isProse(words: string): boolean {
  const plain = words.replaceAll(/\{[^}]*\}/g, '…');
  return / /.test(plain) && /\p{L}{2}/u.test(plain) && !sql.test(plain);
}

/** Holes with names: `{}` has its number, and the format of a value is omitted. */
function named(words: string): string {
  let number = 0;
  return words
    .replaceAll(/\{\{|\}\}|\{(\w*)(?::[^}]*)?\}/g, (hole, name: string | undefined) => {
      if (name === undefined) return hole;
      if (name) return `{${name}}`;
      number += 1;
      return `{${number - 1}}`;
    })
    .trimEnd();
}
