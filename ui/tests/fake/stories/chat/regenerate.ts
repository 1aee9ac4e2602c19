/** A message with several versions, queued messages, the cost of all that, and a local server that could answer. */
import type { ChatItem, ModelCost, ModelInfo } from '../../../../src/ipc/bindings';
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';
import { read } from './chat';

/** Nanodollars. */
function spent(cost: number, requests: number): ModelCost {
  const usage = { input: 2_140, output: 611, cacheRead: 18_420, cacheWrite: 960 };
  return { requests, usage, cost, unpriced: cost === 0 ? requests : 0 };
}

const first: readonly ChatItem[] = [
  userMessage('u1', 'Which of the beans did well last year?', daysAgo(0.1)),
  read('c1', 'Garden/Beans.md'),
  answered(
    'a1',
    'The Borlotti on the south wall: 4.2 kg from twelve plants, by [[Garden/Beans#2025]]. The runner beans had blackfly from June on and gave almost nothing.',
  ),
];

/** A conversation in which the second message has three versions. */
export function regenerated(): Story {
  const conversation = row('beans', 'Beans for the south wall');
  const items: ChatItem[] = [
    ...first,
    userMessage('u2', 'Then plan Borlotti again, and something against blackfly.', daysAgo(0.05)),
    answered(
      'a2',
      'Sow on 10 May under glass, plant out after the ice saints. Nasturtium between the rows draws the blackfly away; you noted that in [[Garden/Companions]].',
    ),
  ];
  const variants = [{ message: 'u2', number: 2, count: 3 }];
  const snapshot = healthy([conversation]);
  const organisation = 'Recipes go to Recipes/, one note each. Meetings are tagged #meeting.';
  return {
    snapshot: { ...snapshot, settings: { ...snapshot.settings, organisation } },
    views: [{ ...view(conversation, items), variants }],
    notes: {},
    spent: {
      turns: [
        { turn: 't1', answer: 'a1', spent: spent(12_300_000, 2) },
        { turn: 't2', answer: 'a2', spent: spent(4_100_000, 1) },
      ],
      months: [
        { month: '2026-11', spent: spent(1_230_000_000, 212) },
        { month: '2026-10', spent: spent(8_020_000_000, 1_045) },
        { month: '2026-09', spent: spent(0, 31) },
      ],
    },
  };
}

/** Three queued messages while an answer is being written. */
export function queue(): Story {
  const conversation = row('beans', 'Beans for the south wall', { working: true });
  const queued = [
    'And how many seeds is that?',
    'Put the sowing dates into the diary, with the week before as a reminder to get compost.',
    'Thanks',
  ];
  const items: ChatItem[] = [
    userMessage('u1', 'Which of the beans did well last year?'),
    read('c1', 'Garden/Beans.md'),
    { type: 'assistant', id: 'a1', text: 'The Borlotti on the', streaming: true, cut: false },
    ...queued.map((text, at): ChatItem => ({
      type: 'user',
      id: `q${at}`,
      text,
      origin: at === 2 ? 'hub_voice' : 'window',
      at: daysAgo(0),
      queued: true,
    })),
  ];
  return { snapshot: healthy([conversation]), views: [view(conversation, items)], notes: {} };
}

const models: ModelInfo[] = ['qwen3:8b', 'gemma3:12b', 'mistral-small:24b'].map((id) => ({
  id,
  name: null,
  window: 32_768,
  maxOutput: null,
  price: null,
}));

/** A model server on this computer that could answer. */
export function offered(): Story {
  const { snapshot, ...rest } = regenerated();
  const offer = {
    name: 'Ollama',
    provider: 'ollama',
    address: 'http://127.0.0.1:11434',
    model: 'qwen3:8b',
  } as const;
  const provider = {
    ...snapshot.provider,
    hasModel: false,
    label: 'Commands',
    model: '',
    models,
    keySource: null,
    envServer: null,
    keys: 0,
    offer,
  };
  return { ...rest, snapshot: { ...snapshot, provider } };
}
