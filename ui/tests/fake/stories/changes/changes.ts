/** Changes of a few days: standing, undone, overwritten, in conflict, and a long history. */
import type {
  AppliedNote,
  AppliedSet,
  ChangeKind,
  ChatItem,
  NoteHunk,
  UndoConflict,
} from '../../../../src/ipc/bindings';
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';
import { line } from './diff';

const hour = 1 / 24;

/** A change of the turn of its set. */
type StoryChange = Omit<AppliedNote, 'turn'>;

function note(
  effect: string,
  path: string,
  kind: ChangeKind,
  change: Partial<StoryChange> = {},
): StoryChange {
  const none = { target: null, unit: null, added: 0, removed: 0, tooOld: false } as const;
  return { effect, path, kind, standing: 'stands', ...none, ...change };
}

function set(
  id: string,
  ago: number,
  notes: StoryChange[],
  of: Partial<AppliedSet> = {},
): AppliedSet {
  const { turn = `turn-${id}` } = of;
  const from = { conversation: 'groceries', turn, by: 'assistant', request: '' } as const;
  const ofTurn = notes.map((change) => ({ ...change, turn }));
  return { id, at: daysAgo(ago), notes: ofTurn, ...from, ...of };
}

const letter = 'Letters/Letter to Signora Furlan.md';
const minutes = 'Projects/Reading room/Minutes, November.md';
const linking = ['Diary/2026-11-03.md', 'Municipality.md', 'Projects/Reading room.md', 'Index.md'];

const recent: readonly AppliedSet[] = [
  set('s9', 0.2 * hour, [note('e-pears', 'Groceries.md', 'replace', { added: 3 })], {
    turn: 't1',
    request: 'Put what is missing on [[Groceries]].',
  }),
  set('s8', 0.6 * hour, [
    note('e-boiler', 'Tasks.md', 'replace', { added: 1, standing: 'overwritten' }),
  ]),
  set(
    's7',
    hour,
    [
      note('e-letter', letter, 'replace', { added: 2, removed: 2 }),
      note('e-furlan', 'People/Signora Furlan.md', 'replace', { added: 1 }),
    ],
    { conversation: 'passport', request: 'We come on the 9th; tell her so.' },
  ),
  set(
    's6',
    1,
    [
      note('e-minutes', minutes, 'rename', {
        target: 'Archive/2026/Minutes, November.md',
        unit: 'move',
      }),
      ...linking.map((path, index) =>
        note(`e-link-${index}`, path, 'replace', { unit: 'move', added: 1, removed: 1 }),
      ),
    ],
    { conversation: 'minutes', request: 'Put the minutes into the archive.' },
  ),
  set(
    's5',
    1.1,
    [note('e-tank', 'Water tank, three offers.md', 'create', { added: 9, standing: 'undone' })],
    { conversation: 'tank' },
  ),
  set(
    's4',
    1.2,
    [
      note('e-heat-1', 'House/Heating.md', 'replace', { added: 1, removed: 1 }),
      note('e-heat-2', 'House/Boiler.md', 'replace', {
        added: 2,
        removed: 2,
        standing: 'partly_undone',
      }),
      note('e-heat-3', 'Diary/2026-11-02.md', 'replace', {
        added: 1,
        removed: 1,
        standing: 'undone',
      }),
      note('e-heat-4', 'House/Chimney.md', 'create', { added: 12 }),
    ],
    { conversation: 'boiler', request: 'The tag #heating is called #house/heating from now on.' },
  ),
  set('s3', 6, [note('e-untitled', 'Untitled 4.md', 'trash')], { conversation: null }),
  set('s2', 6.1, [note('e-folder', 'Archive/2026', 'make_folder')], { conversation: null }),
];

const past: readonly AppliedSet[] = Array.from({ length: 40 }, (_, index) =>
  set(
    `r${String(99 - index)}`,
    8 + index,
    [
      note(`e-past-${index}`, `Diary/Day ${String(index)}.md`, 'replace', {
        added: 1 + (index % 7),
      }),
    ],
    { conversation: 'books' },
  ),
);

const hunks: Record<string, NoteHunk[]> = {
  'e-pears': [
    {
      heading: 'Sunday',
      properties: false,
      oldStart: 7,
      newStart: 7,
      lines: [
        line('same', '## Sunday'),
        line('added', '- mushrooms'),
        line('added', '- sage'),
        line('added', '- 4 pears'),
      ],
    },
  ],
  'e-letter': [
    {
      heading: 'Letter',
      properties: false,
      oldStart: 3,
      newStart: 3,
      lines: [
        line('removed', 'We would come on the *12th*, if that suits you.'),
        line('added', 'We would come on the *9th*, if that suits you.'),
      ],
    },
    {
      heading: 'Letter',
      properties: false,
      oldStart: 14,
      newStart: 14,
      lines: [line('removed', 'With *best* regards'), line('added', 'With *warm* regards')],
    },
  ],
  'e-link-0': [
    {
      heading: 'Evening',
      properties: false,
      oldStart: 12,
      newStart: 12,
      lines: [
        line('removed', 'Wrote the *[[Projects/Reading room/Minutes, November]]* until ten.'),
        line('added', 'Wrote the *[[Archive/2026/Minutes, November]]* until ten.'),
      ],
    },
  ],
};

const since = {
  'e-pears': {
    path: 'Groceries.md',
    hunks: [
      {
        heading: 'Sunday',
        properties: false,
        oldStart: 9,
        newStart: 9,
        lines: [
          line('removed', '- *4* pears'),
          line('added', '- *6* pears, the firm ones'),
          line('added', '- bread from the corner'),
        ],
      },
    ],
  },
  'e-letter': { path: 'Letters/Sent/Letter to Signora Furlan.md', hunks: [] },
  'e-furlan': { path: null, hunks: [] },
};

const conflict: UndoConflict = {
  action: 'undo',
  effect: 'e-letter',
  listed: 'e-letter',
  path: letter,
  hunks: [],
  shown: 'as shown',
  why: 'The same lines have changed since then. Choose which version to keep.',
  places: [
    {
      line: 3,
      now: 'We would come on the 9th, in the afternoon, if that suits you.\n',
      back: 'We would come on the 12th, if that suits you.\n',
    },
  ],
  candidates: [],
};

/** The note was replaced while nobody watched, and a copy of it stands elsewhere. */
const unsure: UndoConflict = {
  action: 'undo',
  effect: 'e-letter',
  listed: 'e-letter',
  path: letter,
  hunks: [],
  shown: null,
  why: 'Another file is now at the note’s path, and Vaultmate didn’t see how it got there. Choose the note that was changed, or keep everything as it is.',
  places: [],
  candidates: [
    { path: letter, file: '1' },
    { path: `Archive/Letters of a year that is long gone by now/${letter}`, file: '2' },
  ],
};

export function changes(): Story {
  const conversation = row('groceries', 'Groceries for Sunday');
  const items: ChatItem[] = [
    userMessage('u1', 'Marta and Luca come on Sunday. Put what is missing on [[Groceries]].'),
    {
      type: 'tool',
      at: daysAgo(0),
      turn: 't1',
      call: 'c1',
      tool: 'append_file',
      arguments: '{}',
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
    answered('a1', 'Mushrooms, sage and four pears are now under [[Groceries#Sunday]].'),
    { type: 'ended', turn: 't1', status: 'done', error: null, offer: null },
  ];
  return {
    snapshot: healthy([conversation]),
    views: [view(conversation, items)],
    notes: { 'Groceries.md': '# Groceries\n\n## Sunday\n\n- mushrooms\n- sage\n- 4 pears' },
    applied: { sets: [...recent, ...past], hunks, conflicts: { 'e-letter': conflict }, since },
  };
}

/** The same, where the overwritten change cannot be reapplied without a choice. */
export function reapplyConflict(): Story {
  const story = changes();
  if (!story.applied) return story;
  const place = { line: 4, now: '- boiler: called\n', back: '- boiler: call the plumber\n' };
  const reapply: UndoConflict = {
    ...conflict,
    action: 'reapply',
    effect: 'e-boiler',
    listed: 'e-boiler',
    path: 'Tasks.md',
    places: [place],
  };
  return { ...story, applied: { ...story.applied, conflicts: { 'e-boiler': reapply } } };
}

/** The same, where the newest change was undone and cannot be redone without a choice. The set of its undo is not listed. */
export function redoConflict(): Story {
  const story = changes();
  const [newest, ...older] = story.applied?.sets ?? [];
  if (!story.applied || !newest) return story;
  const undone = newest.notes.map((change) => ({ ...change, standing: 'undone' as const }));
  const removal = note('e-undo', 'Groceries.md', 'replace', { removed: 3 });
  const undo = set('s10', 0.1 * hour, [removal], { by: 'undo', turn: 't1' });
  const redo: UndoConflict = {
    ...conflict,
    action: 'redo',
    effect: 'e-undo',
    listed: 'e-pears',
    path: 'Groceries.md',
    places: [{ line: 7, now: '- chestnuts\n', back: '- mushrooms\n- sage\n- 4 pears\n' }],
  };
  const sets = [undo, { ...newest, notes: undone }, ...older];
  return { ...story, applied: { ...story.applied, sets, conflicts: { 'e-pears': redo } } };
}

/** The same, where it is not certain which note a change is about. */
export function unsureChanges(): Story {
  const story = changes();
  if (!story.applied) return story;
  return { ...story, applied: { ...story.applied, conflicts: { 'e-letter': unsure } } };
}
