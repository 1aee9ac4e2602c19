/** An answer that is being written, after tools read and changed notes. */
import type { ChatItem } from '../../../../src/ipc/bindings';
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';

const turn = 'turn-1';

export function read(call: string, path: string): ChatItem {
  return {
    type: 'tool',
    at: daysAgo(0),
    turn,
    call,
    tool: 'read_file',
    arguments: JSON.stringify({ path }, null, 2),
    output: '1\t# A note\n2\tIts text.',
    isError: false,
    reactions: [{ type: 'read', path }],
  };
}

const items: ChatItem[] = [
  userMessage(
    'u1',
    'Marta and Luca come on Sunday, so four of us. What did we cook for them last time? Suggest a menu and put what is missing on [[Groceries]].',
  ),
  read('c1', 'Diary/2026-09-12.md'),
  read('c2', 'People/Luca Ferri.md'),
  read('c3', 'Recipes/Polenta with mushrooms.md'),
  read('c4', 'Pantry.md'),
  {
    type: 'tool',
    at: daysAgo(0),
    turn,
    call: 'c5',
    tool: 'append_file',
    arguments: '{\n  "path": "Groceries.md",\n  "content": "- mushrooms\\n- sage\\n- 4 pears"\n}',
    output: 'Added 3 lines to Groceries.md.',
    isError: false,
    reactions: [
      {
        type: 'changed',
        path: 'Groceries.md',
        created: false,
        added: 3,
        removed: 0,
        waiting: false,
      },
    ],
  },
  {
    type: 'assistant',
    id: 'a1',
    text: [
      'On 12 September you made the pumpkin gnocchi. The diary says everybody had seconds, and [[Luca Ferri]] cannot eat walnuts, so I left them out this time.',
      '',
      '- Roasted squash with sage; the two from the allotment are enough for four',
      '- [[Polenta with mushrooms]], which takes 45 minutes and no attention',
      '- Baked pears with thyme and a spoon of yoghurt',
      '',
      'Polenta, butter and thyme are in the [[Pantry]]. Mushrooms, sage and four pears are now under [[Groceries#Sunday]]. Squash and pears both want the oven, so put the pears in when',
    ].join('\n'),
    streaming: true,
    cut: false,
  },
];

const notes = {
  'Pantry.md': [
    '---',
    'tags: [kitchen, lists]',
    'checked: 2026-11-14',
    '---',
    '# Pantry',
    '',
    'What is in the house. See also [[Groceries]].',
    '',
    '## Dry',
    '',
    '- [x] Polenta, 1 kg',
    '- [ ] Rice for risotto',
    '- Lentils from Umbria',
    '',
    '## Cold',
    '',
    '| What | Until |',
    '| --- | --- |',
    '| Butter | 2 December |',
    '| Yoghurt | 24 November |',
    '',
    '> Thyme and sage are in the garden until the frost.',
  ].join('\n'),
  'Luca Ferri.md': '# Luca Ferri\n\nCannot eat walnuts. Likes the corner by the stove.',
};

export function chat(): Story {
  const conversation = row('groceries', 'Groceries for Sunday', { working: true });
  return { snapshot: healthy([conversation]), views: [view(conversation, items)], notes };
}

/** Everything that can be long is long. */
export function longChat(): Story {
  const title =
    'A conversation whose name is much longer than any place that the window has for it anywhere';
  const conversation = row('long', title);
  const word = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft';
  const long: ChatItem[] = [
    userMessage('l1', `Summarise ${word.repeat(3)} and everything else.`, daysAgo(2)),
    read('r1', `${'A folder with a long name/'.repeat(4)}${word}.md`),
    { ...failedEdit, call: 'r2' },
    answered(
      'l2',
      [
        '# What the notes say',
        '',
        'A paragraph with `inline code`, **strong words**, *stressed words*, ~~old words~~ and https://example.org/a/rather/long/address/that/has/to/break/somewhere?and=more.',
        '',
        '1. First',
        '2. Second, with a list inside',
        '   - inner one',
        '   - inner two',
        '3. Third',
        '',
        '```rust',
        'fn main() { println!("a line of code that is so long that it has to scroll sideways inside its own box, not the window"); }',
        '```',
        '',
        '| Book | Lent to | Since | Back | Remarks that go on for a while |',
        '| --- | --- | --- | --- | --- |',
        '| The Leopard | Marta | June | no | She reads slowly and underlines |',
        '| Austerlitz | Paolo | May | yes | |',
        '',
        '> A quotation, which stands apart.',
        '',
        '---',
        '',
        '![an image](https://example.org/p.png) and a task list:',
        '',
        '- [x] done',
        '- [ ] open',
      ].join('\n'),
    ),
    {
      type: 'user',
      id: 'l3',
      text: 'And from the phone',
      origin: 'hub_voice',
      at: daysAgo(0),
      queued: false,
    },
    answered('l4', 'Short.'),
    { type: 'ended', turn: 't-9', status: 'cancelled', error: null, offer: null },
    {
      type: 'user',
      id: 'l5',
      text: 'One more thing',
      origin: 'window',
      at: daysAgo(0),
      queued: true,
    },
  ];
  return { snapshot: healthy([conversation]), views: [view(conversation, long)], notes };
}

const failedEdit: Extract<ChatItem, { type: 'tool' }> = {
  type: 'tool',
  at: daysAgo(0),
  turn,
  call: 'failed',
  tool: 'edit_file',
  arguments: '{\n  "path": "Tax return 2025.md"\n}',
  output: '`Tax return 2025.md` is read-only. Ask the user to change its permissions.',
  isError: true,
  reactions: [],
};
