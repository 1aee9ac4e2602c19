/** What goes along with a message beside its words, and how it stands in what is sent: nothing goes
 * along that the message does not show. */
import type { ConversationId, NotePath } from '../ipc/bindings';
import type { IconName } from '../shared/icons';
import { noteLabel, noteName } from './note-path';

export type Mention =
  | { readonly type: 'note'; readonly path: NotePath }
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

/** The same for two mentions of one thing. */
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
      return `file:${mention.name}`;
    default:
      return mention satisfies never;
  }
}

/** What it is called, for people. */
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

/** How it is named inside a command, where there is no model to be told of it. */
export function mentionInline(mention: Mention): string {
  if (mention.type === 'note') return noteLabel(mention.path);
  return mention.type === 'tag' ? `#${mention.tag}` : mentionName(mention);
}

/** The words of a message with what goes along: named behind them, files whole at the end. */
export function withMentions(words: string, mentions: readonly Mention[]): string {
  const named = mentions.filter(({ type }) => type !== 'file').map(reference);
  const files = mentions.flatMap((one) => (one.type === 'file' ? [attached(one)] : []));
  return [words, named.join(' '), ...files].filter((part) => part !== '').join('\n\n');
}

function reference(mention: Mention): string {
  switch (mention.type) {
    case 'note':
      // What means something inside a link cannot stand in one; the path alone is understood too.
      return /[[\]|#^]/.test(mention.path)
        ? mention.path
        : `[[${linkTarget(mention.path)}|${noteName(mention.path)}]]`;
    case 'folder':
      return `${mention.path}/`;
    case 'tag':
      return `#${mention.tag}`;
    case 'conversation':
      return `[[${conversationTarget}${mention.id}|${mention.title.replace(/[[\]|]/g, ' ')}]]`;
    case 'file':
      return '';
    default:
      return mention satisfies never;
  }
}

/** The note's path, such that no other note can be meant: without a folder a bare name may be that of
 * several. */
function linkTarget(path: NotePath): string {
  return path.includes('/') ? noteLabel(path) : path;
}

/** What the target of a link to a conversation begins with. */
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
function attached({ name, text }: Attached): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `Attached file: ${name.replace(/\s+/g, ' ')}\n${fence}\n${text}\n${fence}`;
}

/** A sent message taken apart again: what was said, and the files behind it. */
export function attachedIn(message: string): { words: string; files: readonly Attached[] } {
  const files: Attached[] = [];
  const pattern =
    /(?:^|\n\n)Attached file: ([^\n]+)\n(`{3,})\n([\s\S]*?)\n\2(?=\n\nAttached file: |$)/g;
  let end = message.length;
  for (const { index, 1: name = '', 3: text = '' } of message.matchAll(pattern)) {
    end = Math.min(end, index);
    files.push({ name, text });
  }
  return { words: message.slice(0, end), files };
}

/** What is being mentioned where the caret stands. */
export interface Asking {
  /** Where `@` or `[[` begins. */
  readonly from: number;
  readonly query: string;
}

/** `@` at the beginning of a word, up to a blank; `[[` up to the end of the line. */
export function askedAt(text: string, caret: number): Asking | null {
  const before = text.slice(0, caret);
  const link = /\[\[([^\][\n]{0,80})$/.exec(before);
  if (link) return { from: link.index, query: link[1] ?? '' };
  const at = /(?:^|[\s([{„“"'])@([^\s@]{0,60})$/.exec(before);
  const query = at?.[1];
  return query === undefined ? null : { from: caret - query.length - 1, query };
}
