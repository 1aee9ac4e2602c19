/** Builds the rows of a chat from its items: a row for each new day, one row for successive tool calls. */
import type { ChatItem, MessageId, Timestamp, TurnId } from '../../ipc/bindings';
import { type AnswerItem, isBuiltinCall, isBuiltinReply } from '../../state/chat/builtin-replies';
import { itemKey } from '../../state/chat/open-conversation.svelte';

export type ToolItem = Extract<ChatItem, { type: 'tool' }>;

export type Row =
  | { readonly kind: 'day'; readonly key: string; readonly at: Timestamp }
  | {
      readonly kind: 'item';
      readonly key: string;
      readonly item: Exclude<ChatItem, ToolItem>;
      /** Whether the application worded it, as no model was connected. */
      readonly ours: boolean;
    }
  | { readonly kind: 'tools'; readonly key: string; readonly calls: readonly ToolItem[] }
  | {
      /** A typed command: its effect, and its reply. No model answers. */
      readonly kind: 'command';
      readonly key: string;
      readonly calls: readonly ToolItem[];
      readonly reply: AnswerItem | null;
    }
  | { readonly kind: 'passages'; readonly key: string; readonly call: ToolItem }
  | { readonly kind: 'end'; readonly key: string; readonly reason: string | null }
  | ({ readonly kind: 'actions'; readonly key: string } & WholeAnswer)
  | { readonly kind: 'undo'; readonly key: string; readonly turn: TurnId };

/** Everything that was answered to one message: a model may speak before and between its calls. */
interface WholeAnswer {
  /** The last part of it. */
  readonly answer: MessageId;
  /** All parts. */
  readonly texts: readonly string[];
}

export interface RowOptions {
  /** Without a model passages are the answer itself, else they lie inside their line. */
  readonly passagesAreAnswers: boolean;
  /** Turns whose changes can be undone, or were. */
  readonly changed?: ReadonlySet<TurnId>;
  /** Whether the last turn goes on: then it has no end yet. */
  readonly working?: boolean;
}

/** The messages before the items were sent on `before`, if there are any. */
export function rows(items: readonly ChatItem[], options: RowOptions, before = ''): Row[] {
  const drawn: Row[] = [];
  let day = before;
  let turns = new Set<TurnId>();
  let ours = false;
  const endTurns = (): void => {
    for (const turn of turns) drawn.push({ kind: 'undo', key: `undo:${turn}`, turn });
    turns = new Set();
  };
  let begun = 0;
  const endAnswer = (): void => {
    putActions(drawn, begun);
    begun = drawn.length;
  };
  for (const item of items) {
    if (item.type === 'user' && !item.queued) endAnswer();
    if (item.type === 'user' && (!item.queued || !options.working)) endTurns();
    if ('turn' in item && options.changed?.has(item.turn)) turns.add(item.turn);
    if (item.type === 'user' && dayOf(item.at) !== day) {
      day = dayOf(item.at);
      drawn.push({ kind: 'day', key: `day:${itemKey(item)}`, at: item.at });
    }
    if (item.type === 'user' && !item.queued) ours = false;
    if (item.type === 'tool') {
      ours ||= isBuiltinCall(item.call);
      pushCall(drawn, item, options);
    } else if (isShown(item)) pushItem(drawn, item, ours);
  }
  if (!options.working) {
    endAnswer();
    endTurns();
  }
  return drawn;
}

/** The actions on an answer stand below all of it: its text and its tool calls. */
function putActions(drawn: Row[], begun: number): void {
  const isPart = ({ kind }: Row): boolean => kind === 'tools' || kind === 'passages';
  const answers = drawn.slice(begun).flatMap((row) => {
    return row.kind === 'item' && row.item.type === 'assistant' ? [{ ...row, item: row.item }] : [];
  });
  const last = answers.at(-1);
  // Replies of commands are no answers.
  if (!last || last.ours) return;
  const { id } = last.item;
  const end = drawn.findLastIndex((row) => isPart(row) || row.key === last.key) + 1;
  const texts = answers.map(({ item }) => item.text);
  const row: Row = { kind: 'actions', key: `actions:${id}`, answer: id, texts };
  drawn.splice(end, 0, row);
}

/** The day of the last message, as `rows` takes it. */
export function lastDay(items: readonly ChatItem[]): string {
  const last = items.findLast((item) => item.type === 'user');
  return last ? dayOf(last.at) : '';
}

function pushCall(drawn: Row[], call: ToolItem, options: RowOptions): void {
  const key = itemKey(call);
  const last = drawn.at(-1);
  const own = isBuiltinCall(call.call);
  const isAnswer = own || options.passagesAreAnswers;
  const end = call.reactions.find(({ type }) => type === 'conversation_ended');
  if (end?.type === 'conversation_ended') drawn.push({ kind: 'end', key, reason: end.reason });
  else if (isAnswer && call.reactions.some(({ type }) => type === 'passages')) {
    drawn.push({ kind: 'passages', key, call });
  } else if (own && last?.kind === 'command' && last.reply === null) {
    drawn[drawn.length - 1] = { ...last, key, calls: [...last.calls, call] };
  } else if (own) {
    drawn.push({ kind: 'command', key, calls: [call], reply: null });
  } else if (last?.kind === 'tools') {
    drawn[drawn.length - 1] = { ...last, calls: [...last.calls, call] };
  } else {
    drawn.push({ kind: 'tools', key, calls: [call] });
  }
}

/** A text that introduces passages comes after them in time, and stands above them. */
function pushItem(drawn: Row[], item: Exclude<ChatItem, ToolItem>, ours: boolean): void {
  const isOurs = item.type === 'assistant' ? isBuiltinReply(item.text, ours) : ours;
  const row: Row = { kind: 'item', key: itemKey(item), item, ours: isOurs };
  const last = drawn.at(-1);
  if (item.type === 'assistant' && last?.kind === 'passages') drawn.splice(-1, 0, row);
  else if (item.type === 'assistant' && isOurs) {
    const calls = last?.kind === 'command' && last.reply === null ? last.calls : [];
    if (calls.length > 0) drawn.pop();
    drawn.push({ kind: 'command', key: row.key, calls, reply: item });
  } else drawn.push(row);
}

/** The open question is a card at the end, and a turn that went well ends without a word. */
function isShown(item: Exclude<ChatItem, ToolItem>): boolean {
  switch (item.type) {
    case 'user':
    case 'decision':
    case 'summary':
      return true;
    case 'assistant':
      return item.text !== '' || item.streaming;
    case 'asked':
      return item.answer !== null || item.withdrawn;
    case 'ended':
      return !['done', 'asked', 'queued', 'running'].includes(item.status);
    default:
      return item satisfies never;
  }
}

function dayOf(at: Timestamp): string {
  return new Date(at).toDateString();
}
