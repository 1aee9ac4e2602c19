/** Recognizes the replies of the application without a model, by the ids of their calls. */
import type { CallId, ChatItem, Question } from '../../ipc/bindings';
import { translateSentence } from '../../shared/i18n/translate-sentence';

/** An answer of a model, or a reply of the application. */
export type AnswerItem = Extract<ChatItem, { type: 'assistant' }>;

/** Commands, and what keeps the hub's messages. */
const named = /^(cmd|capture)-\d+$/;

/** How replies of commands begin that need no call; no model says this. */
const replies =
  /^(No model connected\. |The keyring is locked, so no model was asked\. |This isn’t possible here: `)/;

/** Whether no model made the call. */
export function isBuiltinCall(call: CallId): boolean {
  return named.test(call);
}

/** Whether the application itself, not a model, worded a reply. */
export function isBuiltinReply(text: string, afterOwnCall: boolean): boolean {
  return afterOwnCall || replies.test(text);
}

/** The last answer that a model worded. */
export function lastOfModel(items: readonly ChatItem[]): AnswerItem | null {
  let [last, own]: [AnswerItem | null, boolean] = [null, false];
  for (const item of items) {
    if (item.type === 'user' && !item.queued) own = false;
    if (item.type === 'tool') own ||= isBuiltinCall(item.call);
    if (item.type === 'assistant') last = isBuiltinReply(item.text, own) ? null : item;
  }
  return last;
}

/** A question as it is asked: in the language that is spoken, unless a model worded it. */
export function questionText({ call, text }: Question): string {
  return isBuiltinCall(call) ? translateSentence(text) : text;
}
