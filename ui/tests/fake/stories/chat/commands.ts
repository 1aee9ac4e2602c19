/** No model: a command's effect, and passages as the answer. */
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';

export function commands(): Story {
  const conversation = row('boiler-2', 'Boiler pressure and who to call');
  const snapshot = healthy([conversation]);
  const query = 'boiler pressure who to call';
  const mark = (text: string, ...words: string[]): [number, number][] =>
    words
      .map((word): [number, number] => [text.indexOf(word), text.indexOf(word) + word.length])
      .sort(([a], [b]) => a - b);
  const cold =
    'Cold, the pressure should stand between **1.2 and 1.5 bar**. Below 1 bar:\n- top up at the blue tap behind the boiler, slowly\n- bleed the radiator in the bathroom, see [[Heating]]';
  const serviced = '---\nserviced: boiler, 4 March 2026\ntags: [house]\n---';
  const contact =
    'Boiler: Bruno Cossutta, 040 555 0137. Call before nine, he does not answer text messages.';
  const diary = 'Pressure down to 0.6 again. Bruno says the expansion vessel, not a leak.';
  return {
    snapshot: {
      ...snapshot,
      provider: {
        hasModel: false,
        label: 'Commands',
        model: '',
        models: [],
        keySource: null,
        envServer: null,
        keys: 0,
        trouble: null,
        keyring: null,
        offer: null,
      },
    },
    notes: { 'House/Heating.md': '# Heating\n', 'Recipes/Lentil soup.md': '# Lentil soup\n' },
    views: [
      view(conversation, [
        userMessage('u1', 'append check the boiler on Monday to Tasks'),
        {
          type: 'tool',
          at: daysAgo(0),
          turn: 't1',
          call: 'cmd-1',
          tool: 'append_file',
          arguments: '{\n  "path": "Tasks.md"\n}',
          output: 'Added 1 line to Tasks.md.',
          isError: false,
          reactions: [
            {
              type: 'changed',
              path: 'Tasks.md',
              created: false,
              added: 1,
              removed: 0,
              waiting: false,
            },
          ],
        },
        answered('a1', 'Added 1 line to Tasks.'),
        userMessage('u3', 'links Heating'),
        {
          type: 'tool',
          at: daysAgo(0),
          turn: 't3',
          call: 'cmd-2',
          tool: 'get_links',
          arguments: '{\n  "path": "Heating"\n}',
          output: '`House/Heating.md` has 2 links: …',
          isError: false,
          reactions: [{ type: 'searched', query: 'House/Heating.md', hits: 3 }],
        },
        answered(
          'a3',
          'Links of Heating:\n\n- [[People/Household contacts]]\n- [[Tool cupboard]] (broken link)\n- [[Diary/2026-02-17]] (backlink)',
        ),
        userMessage('u4', 'open lentil'),
        {
          type: 'tool',
          at: daysAgo(0),
          turn: 't4',
          call: 'cmd-3',
          tool: 'show_note',
          arguments: '{\n  "path": "Recipes/Lentil soup.md"\n}',
          output: 'Shown to the user: `Recipes/Lentil soup.md`',
          isError: false,
          reactions: [{ type: 'open_note', path: 'Recipes/Lentil soup.md', line: null }],
        },
        answered('a4', 'Opened Lentil soup.'),
        userMessage('u5', 'delete Heatings'),
        {
          type: 'tool',
          at: daysAgo(0),
          turn: 't5',
          call: 'cmd-4',
          tool: 'delete_file',
          arguments: '{\n  "path": "Heatings"\n}',
          output: 'There is no note “Heatings”. The nearest names are below.',
          isError: true,
          reactions: [],
        },
        answered('a5', 'There is no note “Heatings”. The nearest: “Heating”.'),
        userMessage('u2', query),
        {
          type: 'tool',
          at: daysAgo(0),
          turn: 't2',
          call: 'cmd-5',
          tool: 'find_notes',
          arguments: JSON.stringify({ query }, null, 2),
          output: '7 passages',
          isError: false,
          reactions: [
            {
              type: 'passages',
              query,
              total: 7,
              passages: [
                {
                  path: 'House/Heating.md',
                  heading: 'Boiler',
                  line: 12,
                  text: cold,
                  marks: mark(cold, 'pressure', 'boiler'),
                  why: 'heading',
                  properties: false,
                },
                {
                  path: 'People/Household contacts.md',
                  heading: null,
                  line: 3,
                  text: contact,
                  marks: mark(contact, 'Boiler', 'Call'),
                  why: 'text',
                  properties: false,
                },
                {
                  path: 'Diary/2026-02-17.md',
                  heading: 'Morning',
                  line: 8,
                  text: diary,
                  marks: mark(diary, 'Pressure'),
                  why: 'text',
                  properties: false,
                },
                {
                  path: 'House/Offers, heating 2026.md',
                  heading: null,
                  line: 1,
                  text: serviced,
                  marks: mark(serviced, 'boiler'),
                  why: 'property',
                  properties: true,
                },
              ],
            },
          ],
        },
        answered('a2', 'No model connected. 7 notes match'),
      ]),
    ],
  };
}
