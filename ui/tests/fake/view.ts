/** The fake application's view of conversations, of the vault and of the provider. */
import type {
  ChatItem,
  ContextUse,
  ConversationId,
  ConversationView,
  KeyStorage,
  MessageId,
  ProviderStatus,
  VaultInfo,
} from '../../src/ipc/bindings';

/** The user's choice in a dialog. */
export const chosenFolder = 'Documents/Notebook';

/** Whether an item is this message of the user. */
export function isUserMessage(
  item: ChatItem,
  message: MessageId,
): item is Extract<ChatItem, { type: 'user' }> {
  return item.type === 'user' && item.id === message;
}

/** A context once the earlier messages were summarized. */
export function afterSummary(context: ContextUse | null): ContextUse | null {
  const kept = context?.parts.filter(({ kind }) => kind === 'instructions') ?? [];
  const used = kept.reduce((sum, { tokens }) => sum + tokens, 600);
  const parts = [...kept, { kind: 'summary', tokens: 600 } as const];
  return context && { ...context, used, parts, canSummarize: false };
}

/** A conversation that just began. */
export function newView(id: ConversationId, title: string): ConversationView {
  return {
    seq: 0,
    conversation: {
      id,
      title,
      titledByModel: false,
      inboxDay: null,
      state: 'active',
      fromHub: false,
      archived: false,
      updatedAt: Date.now(),
      waitingQuestion: null,
      waitingNotes: 0,
      held: 0,
      summary: null,
      interrupted: false,
      working: true,
    },
    items: [],
    earlier: 0,
    variants: [],
    question: null,
    review: null,
    held: [],
    context: null,
  };
}

/** All parts of the answer that one part is named of. */
export function answerOf(items: readonly ChatItem[], part: MessageId): string | null {
  let parts: string[] = [];
  let found = false;
  for (const item of items) {
    if (item.type === 'user' && found) break;
    if (item.type === 'user') parts = [];
    if (item.type !== 'assistant') continue;
    parts.push(item.text);
    found ||= item.id === part;
  }
  return found ? parts.join('\n\n') : null;
}

/** A vault that was just opened. */
export function vaultAt(folder: string, sample: boolean): VaultInfo {
  return {
    id: folder,
    name: folder.slice(folder.lastIndexOf('/') + 1),
    folder,
    notes: sample ? 24 : 1284,
    writable: true,
    sample,
    trouble: null,
    indexing: null,
    revision: 0,
  };
}

/** The provider once a key is there, or is removed. */
export function providerWithKey(key: string, place: KeyStorage): ProviderStatus {
  return {
    hasModel: key !== '',
    label: key ? 'Haiku' : 'Commands',
    model: key ? 'claude-haiku-4-5' : '',
    models: [],
    keySource: key ? place : null,
    envServer: null,
    keys: key.split(/[\s,]+/).filter((one) => one !== '').length,
    trouble: null,
    keyring: null,
    offer: null,
  };
}
