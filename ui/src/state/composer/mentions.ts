/** The mentions of a message, and their text in it: nothing is sent that the message does not
 * show. */
import type { ConversationId, MentionTarget, NotePath } from '../../ipc/bindings';
import type { IconName } from '../../shared/components/icons';
import { noteLabel, noteName } from '../notes/note-path';

export type Mention =
  /** `link` is what a link to it says so that no other note is meant. */
  | { readonly type: 'note'; readonly path: NotePath; readonly link: string }
  /** `/`-separated, without one at its end. */
  | { readonly type: 'folder'; readonly path: string }
  /** Without its `#`. */
  | { readonly type: 'tag'; readonly tag: string }
  | { readonly type: 'conversation'; readonly id: ConversationId; readonly title: string }
  /** A text that lies outside the vault, whole. */
  | { readonly type: 'file'; readonly name: string; readonly text: string };

export const mentionIcons: Readonly<Record<Mention['type'], IconName>> = {
  note: 'note',
  folder: 'folder',
  tag: 'hash',
  conversation: 'chat',
  file: 'clip',
};

/** The same for two mentions of one thing; files are one thing where name and text are the same. */
export function mentionKey(mention: Mention): string {
  switch (mention.type) {
    case 'note':
    case 'folder':
      return `${mention.type}:${mention.path}`;
    case 'tag':
      return `tag:${mention.tag}`;
    case 'conversation':
      return `conversation:${mention.id}`;
    case 'file':
      return `file:${mention.name.length}:${mention.name}${mention.text}`;
    default:
      return mention satisfies never;
  }
}

/** How a mention of something else than a note is named to the application. */
export function mentionTarget(mention: Mention): MentionTarget | null {
  switch (mention.type) {
    case 'folder':
      return { type: 'folder', path: mention.path };
    case 'tag':
      return { type: 'tag', tag: mention.tag };
    case 'conversation':
      return { type: 'conversation', id: mention.id };
    case 'note':
    case 'file':
      return null;
    default:
      return mention satisfies never;
  }
}

/** Its name, for people. */
export function mentionName(mention: Mention): string {
  switch (mention.type) {
    case 'note':
    case 'folder':
      return noteName(mention.path);
    case 'tag':
      return mention.tag;
    case 'conversation':
      return mention.title;
    case 'file':
      return mention.name;
    default:
      return mention satisfies never;
  }
}

/** For each of these its name, for people and models: of several files with one name each has a number behind it but
 * the first. */
export function mentionNames(mentions: readonly Mention[]): string[] {
  const taken = new Set<string>();
  return mentions.map((mention) => {
    if (mention.type !== 'file') return mentionName(mention);
    const name = mention.name.replace(/[\s\p{Cc}]+/gu, ' ');
    let own = name;
    for (let number = 2; taken.has(own); number += 1) own = `${name} (${number})`;
    taken.add(own);
    return own;
  });
}

/** How it is named inside a command, where there is no model to be told of it. */
export function mentionInline(mention: Mention): string {
  if (mention.type === 'note') return noteLabel(mention.path);
  return mention.type === 'tag' ? `#${mention.tag}` : mentionName(mention);
}

/** How it stands in the sentence; a file stands in none. */
export function mentionText(mention: Mention): string {
  switch (mention.type) {
    case 'note':
      // Characters that mean something inside a link cannot stand in one; the path alone is understood too.
      return /[[\]|#^]/.test(mention.link) ? mention.path : `[[${mention.link}]]`;
    case 'folder':
      return `${mention.path}/`;
    case 'tag':
      return `#${mention.tag}`;
    case 'conversation':
      return `[[${linkLabel(mention.title)}]]`;
    case 'file':
      return '';
    default:
      return mention satisfies never;
  }
}

/** Where a text stands in another one, not as a part of a longer name; -1 where it does not. */
export function findMentionText(text: string, part: string): number {
  const goesOn = (sign: string | undefined): boolean => /[\p{L}\p{N}/_-]/u.test(sign ?? '');
  const [first, last] = [part.at(0), part.at(-1)];
  let at = part === '' ? -1 : text.indexOf(part);
  while (at >= 0) {
    const begins = !goesOn(first) || !goesOn(text.at(at - 1)) || at === 0;
    if (begins && !(goesOn(last) && goesOn(text[at + part.length]))) return at;
    at = text.indexOf(part, at + 1);
  }
  return -1;
}

/** A message as it is sent: `words`, in which mentions stand where they were typed, then the
 * attached ones: mentions named behind the text, files whole at the end. */
export function withMentions(
  typed: string,
  inText: readonly Mention[],
  attached: readonly Mention[],
): string {
  const notes = inText.filter(({ type }) => type === 'note').map(mentionText);
  // A model looks a conversation up by its id.
  const body = inText.reduce((text, one) => {
    const label = mentionText(one);
    const isClear = one.type === 'conversation' && !notes.includes(label);
    return isClear ? text.replaceAll(label, () => reference(one)) : text;
  }, typed);
  const named = attached.filter(({ type }) => type !== 'file').map(reference);
  const names = mentionNames(attached);
  const files = attached.flatMap((one, at) =>
    one.type === 'file' ? [attachedText(names[at] ?? one.name, one.text)] : [],
  );
  return [body, named.join(' '), ...files].filter((part) => part !== '').join('\n\n');
}

function reference(mention: Mention): string {
  if (mention.type !== 'conversation') return mentionText(mention);
  return `[[${conversationTarget}${mention.id}|${linkLabel(mention.title)}]]`;
}

function linkLabel(title: string): string {
  return title.replace(/[[\]|\n]/g, ' ');
}

/** The beginning of the target of a link to a conversation. */
const conversationTarget = 'conversation:';

/** The conversation that a link means; `null` for a link to a note. */
export function linkedConversation(target: string): ConversationId | null {
  if (!target.startsWith(conversationTarget)) return null;
  return target.slice(conversationTarget.length).split('|', 1)[0] ?? null;
}

interface Attached {
  readonly name: string;
  readonly text: string;
}

/** The fence is longer than any in the text: nothing in it can end it. */
function attachedText(name: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `Attached file: ${name}\n${fence}\n${text}\n${fence}`;
}

/** Where a file begins in a message, up to the end of its first fence. */
const fileBegin = /(?:^|\n\n)Attached file: ([^\n]+)\n(`{3,})(?=\n)/g;
/** A line that can end one: a fence, and behind it another file or nothing. */
const fileEnd = /\n(`{3,})(?=\n\nAttached file: |$)/g;

/** The parts of a sent message: its text, and the files behind it. Takes time in proportion to its
 * length, however many files seem to begin and do not end. */
export function attachedIn(message: string): { text: string; files: readonly Attached[] } {
  const files: Attached[] = [];
  const ends = fileEnds(message);
  let [end, from] = [message.length, 0];
  for (const { index, 0: head, 1: name = '', 2: fence = '' } of message.matchAll(fileBegin)) {
    const begin = index + head.length + 1;
    // Lines inside of one that look like a file are its text.
    const close = index < from ? undefined : firstFrom(ends.get(fence.length), begin);
    if (close === undefined) continue;
    end = Math.min(end, index);
    files.push({ name, text: message.slice(begin, close) });
    from = close + 1 + fence.length;
  }
  return { text: message.slice(0, end), files };
}

/** By the length of their fence, the last one first. */
function fileEnds(message: string): Map<number, number[]> {
  const ends = new Map<number, number[]>();
  for (const { index, 1: fence = '' } of [...message.matchAll(fileEnd)].toReversed()) {
    const same = ends.get(fence.length);
    if (same) same.push(index);
    else ends.set(fence.length, [index]);
  }
  return ends;
}

/** The first of these places that is not before `begin`; those before it are taken out. */
function firstFrom(places: number[] | undefined, begin: number): number | undefined {
  while ((places?.at(-1) ?? begin) < begin) places?.pop();
  return places?.at(-1);
}

/** The mention that is being typed at the caret. */
export interface MentionQuery {
  /** Where `@` or `[[` begins. */
  readonly from: number;
  readonly query: string;
}

/** `@` at the beginning of a word, up to a blank; `[[` up to the end of the line. */
export function mentionQueryAt(text: string, caret: number): MentionQuery | null {
  const before = text.slice(0, caret);
  const link = /\[\[([^\][\n]{0,80})$/.exec(before);
  if (link) return { from: link.index, query: link[1] ?? '' };
  const at = /(?:^|[\s([{„“"'])@([^\s@]{0,60})$/.exec(before);
  const query = at?.[1];
  return query === undefined ? null : { from: caret - query.length - 1, query };
}
