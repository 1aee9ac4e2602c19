/** Predicates on events and on fetched views: whether something on display has to be fetched. */
import type { AppEvent, ChatItem, ConversationId, VaultInfo } from '../ipc/bindings';

/** Whether other things stand in the conversation now, and it is not known which. */
export function isConversationReplaced(event: AppEvent, conversation: ConversationId): boolean {
  return event.type === 'chat_changed' && event.conversation === conversation;
}

/** Whether another model may answer from now on, or by other rules. */
export function changesModel(event: AppEvent): boolean {
  return event.type === 'provider_changed' || event.type === 'settings_changed';
}

/** Whether other lines of the open note may be the assistant's: its text or what is known of our changes is another. */
export function changesAttribution({ type }: AppEvent): boolean {
  return ['note_changed', 'applied_changed', 'history_changed'].includes(type);
}

export function isHistoryDeleted(event: AppEvent): boolean {
  return event.type === 'history_changed';
}

export function sameVault(one: VaultInfo | null, other: VaultInfo | null): boolean {
  return one?.id === other?.id;
}

/** Whether what was looked up before may stand differently. */
export function hasNewIndex(before: VaultInfo | null, now: VaultInfo | null): boolean {
  const stood = before?.indexing === null;
  return before?.revision !== now?.revision || stood !== (now?.indexing === null);
}

/** Whether notes were changed in it, so that there may be something to undo. */
export function hasChanged({ items }: { readonly items: readonly ChatItem[] }): boolean {
  return items.some((item) => {
    if (item.type === 'decision') return item.applied.length > 0;
    if (item.type === 'ended') return (item.offer?.changed ?? 0) > 0;
    return item.type === 'tool' && item.reactions.some((one) => 'waiting' in one && !one.waiting);
  });
}

/** Whether items of the conversation gave way to some that changed notes: their changes may not be known yet. */
export function bringsChanges(event: AppEvent, conversation: ConversationId): boolean {
  return (
    event.type === 'items_replaced' && event.conversation === conversation && hasChanged(event)
  );
}

/** Whether a turn has ended: then something may have been spent. */
export function isTurnEnd(event: AppEvent): boolean {
  return event.type === 'item_changed' && event.item.type === 'ended';
}
