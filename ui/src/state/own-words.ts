/** What the application says itself where no model is connected: known by how it names its calls. */
import type { CallId, Question } from '../ipc/bindings';
import { worded } from '../shared/worded';

/** Commands, and what keeps the hub's messages. */
const named = /^(cmd|capture)-\d+$/;

/** Whether no model made the call. */
export function isOwnCall(call: CallId): boolean {
  return named.test(call);
}

/** A question as it is asked: in the language that is spoken, unless a model worded it. */
export function questionWords({ call, text }: Question): string {
  return isOwnCall(call) ? worded(text) : text;
}
