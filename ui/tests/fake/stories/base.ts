/** The beginning of most stories: a vault, a model, a list of conversations. */
import type {
  AppSnapshot,
  ChatItem,
  Conversation,
  ConversationView,
  ModelInfo,
} from '../../../src/ipc/bindings';
import { defaultSettings } from '../../../src/ipc/bindings';

const minute = 60_000;
const day = 24 * 60 * minute;

/** A moment on some day before now. */
export function daysAgo(days: number): number {
  return Date.now() - days * day;
}

/** A row of the list, updated a little before the row above it. */
export function row(id: string, title: string, change: Partial<Conversation> = {}): Conversation {
  return {
    id,
    title,
    titledByModel: false,
    inboxDay: null,
    state: 'active',
    fromHub: false,
    archived: false,
    updatedAt: daysAgo(0),
    waitingQuestion: null,
    waitingNotes: 0,
    held: 0,
    summary: null,
    interrupted: false,
    working: false,
    ...change,
  };
}

/** A conversation that needs nothing but the given items. */
export function view(
  conversation: Conversation,
  items: ChatItem[],
  needs: Partial<Pick<ConversationView, 'question' | 'review' | 'held' | 'context'>> = {},
): ConversationView {
  return {
    seq: 0,
    conversation,
    items,
    earlier: 0,
    variants: [],
    question: null,
    review: null,
    held: [],
    context: null,
    ...needs,
  };
}

/** A message of the user in the window. */
export function userMessage(id: string, text: string, at = daysAgo(0)): ChatItem {
  return { type: 'user', id, text, origin: 'window', at, queued: false };
}

/** A finished answer. */
export function answered(id: string, text: string): ChatItem {
  return { type: 'assistant', id, text, streaming: false, cut: false };
}

/** A healthy window over a vault, with these conversations on top of the list. */
export function healthy(first: readonly Conversation[]): AppSnapshot {
  return {
    seq: 0,
    vault: {
      id: 'notebook',
      name: 'Notebook',
      folder: '/home/anna/Documents/Notebook',
      notes: 1284,
      writable: true,
      sample: false,
      trouble: null,
      indexing: null,
      revision: 0,
    },
    settings: {
      ...defaultSettings,
      model: 'haiku',
      hub: {
        ...defaultSettings.hub,
        name: 'Vaultmate',
        description: 'Answers questions about the notes and adds to them.',
      },
      extraRoots: [{ folder: '/home/anna/Recipes', name: 'Recipes' }],
    },
    provider: {
      hasModel: true,
      label: 'Haiku',
      model: 'claude-haiku-4-5',
      models: [
        model('claude-haiku-4-5', 'Claude Haiku 4.5', 1_000),
        model('claude-sonnet-4-5', 'Claude Sonnet 4.5', 3_000),
        model('claude-opus-4-5', 'Claude Opus 4.5', 5_000),
      ],
      keySource: 'keyring',
      envServer: null,
      keys: 1,
      trouble: null,
      keyring: null,
      offer: null,
    },
    hub: { state: 'off', trouble: null, retryAt: null, ignored: 0 },
    conversations: [...first, ...others],
    behind: null,
    jobs: [],
    settingsTrouble: null,
    problems: [],
  };
}

function model(id: string, name: string, input: number): ModelInfo {
  const price = { input, output: 5 * input, cacheRead: input / 10, cacheWrite: input };
  return { id, name, window: 200_000, maxOutput: 64_000, price };
}

const others: readonly Conversation[] = [
  row('boiler', 'Boiler pressure and who to call', { updatedAt: daysAgo(0.01) }),
  row('tank', 'Water tank for the allotment', { updatedAt: daysAgo(0.02), fromHub: true }),
  row('minutes', 'Minutes of the reading room meeting with the municipality', {
    updatedAt: daysAgo(1),
  }),
  row('inbox', 'Inbox, Friday', {
    updatedAt: daysAgo(1),
    fromHub: true,
    inboxDay: 'friday',
  }),
  row('books', 'Books lent, and to whom', { updatedAt: daysAgo(4) }),
  row('passport', 'Passport renewal: what is missing', { updatedAt: daysAgo(40) }),
];
