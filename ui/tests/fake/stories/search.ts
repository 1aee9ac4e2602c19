/** A few notes to look through. */
import type { AssistantLines } from '../../../src/ipc/bindings';
import type { QueryStory } from '../queries';
import type { Story } from '../story';
import { answered, daysAgo, healthy, row, userMessage, view } from './base';

const notes = {
  'House/Heating.md': [
    '---',
    'tags: [house, yearly]',
    'serviced: 4 March 2026',
    '---',
    '# Heating',
    '',
    '## Boiler',
    '',
    'Cold, the pressure should stand between 1.2 and 1.5 bar. Below 1 bar top up at the blue tap behind the boiler, slowly, and bleed the radiator in the bathroom.',
    '',
    'The expansion vessel is the grey one on the left, 18 litres, from 2011. When the pressure swings by more than half a bar between cold and warm, it is the membrane.',
    '',
    'Pre-charge of the expansion vessel: 0.9 bar, measured without water. Bruno has the pump for it.',
    '',
    '## Radiators',
    '',
    'Bathroom first, then upstairs. The key hangs in the [[Tool cupboard]], on the inside of the left door.',
    '',
    '- [ ] ask Bruno for the pump',
    '- [ ] write down the pressure in the cold boiler',
    '- [x] buy a second key',
    '',
    '## Chimney sweep',
    '',
    'Once a year, in October. Number in [[Household contacts]].',
  ].join('\n'),
  'Diary/2026-02-17.md': [
    '# Tuesday',
    '',
    '## Morning',
    '',
    'Bruno says the expansion vessel, not a leak. Offer follows.',
    '',
    '- [ ] call the insurance about the cellar',
  ].join('\n'),
  'House/Offers, heating 2026.md':
    '# Offers\n\nExpansion vessel 25 l, fitted: 286 euros. Valid until the end of March.',
  'Diary/2025-11-30.md':
    '# Sunday\n\nKnocking in the pipes again; is it the expansion vessel or the pump?\n\nRead about membranes in the expansion vessel; they last ten years.',
  'House/Household contacts.md': '# Household contacts\n\n- Bruno, heating\n- Signora Furlan',
};

const queries: QueryStory = {
  stands: true,
  aliases: { Boiler: 'House/Heating.md' },
  tags: [
    { word: 'house', notes: 41 },
    { word: 'lists', notes: 12 },
    { word: 'lists/shopping', notes: 4 },
    { word: 'yearly', notes: 1 },
  ],
  properties: [
    { word: 'serviced', notes: 7 },
    { word: 'status', notes: 3 },
  ],
  values: [{ word: '4 March 2026', notes: 1 }],
  broken: [
    { word: 'Tool cupboard', notes: 3 },
    { word: 'Minutes 2019', notes: 1 },
    { word: 'Household contact', notes: 1 },
    { word: 'plan of the cellar.png', notes: 1 },
  ],
  private: { 'Diary/2025-11-30.md': 'never', 'Diary/2026-02-17.md': 'local_only' },
  near: { 'Household contact': 'House/Household contacts.md' },
  links: {
    'House/Heating.md': {
      out: [
        { name: 'Tool cupboard', to: null },
        { name: 'Household contacts', to: 'House/Household contacts.md' },
      ],
      outTotal: 2,
      back: [
        { from: 'Diary/2026-02-17.md', line: 5 },
        { from: 'House/Offers, heating 2026.md', line: 3 },
      ],
      backTotal: 2,
      unclearLine: null,
    },
  },
  marks: {
    'House/Heating.md': [
      marked(2, 3, 40, 'Note when the boiler was serviced.'),
      marked(13, 13, 2.4, 'Bruno was here; put in what he measured.'),
      marked(19, 20, 0.1, ''),
    ],
  },
};

/** Lines that the assistant wrote some days ago. */
function marked(first: number, last: number, days: number, request: string): AssistantLines {
  const conversation = request === '' ? 'heating' : null;
  return { first, last, changeSet: `set-${first}`, conversation, request, at: daysAgo(days) };
}

export function search(): Story {
  const conversation = row('heating', 'What the heating needs');
  const items = [
    userMessage('s1', 'What do I know about the boiler?'),
    answered('s2', 'It stands in [[House/Heating]]: between 1.2 and 1.5 bar when cold.'),
  ];
  return { snapshot: healthy([conversation]), views: [view(conversation, items)], notes, queries };
}

/** The same while the index is being built. */
export function indexing(): Story {
  const story = search();
  const { vault } = story.snapshot;
  const building = vault && { ...vault, indexing: { done: 12_000, all: 100_000 } };
  return {
    ...story,
    snapshot: { ...story.snapshot, vault: building },
    queries: { ...queries, stands: false },
  };
}
