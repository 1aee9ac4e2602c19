/** A move with the links that follow it, folders, deletions and a conflict, pending together. */
import type { ChatItem, NoteDiff, ToolEvent } from '../../../../src/ipc/bindings';
import { nothingKnown } from '../../queries';
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';
import { line, noteDiff } from './diff';

const backup = 'Projects/Reading room.md.bak.md';
const minutes = 'Projects/Reading room/Minutes, November.md';
const archived = 'Archive/2026/Minutes, November.md';

/** A note with a link to what moves. */
function linking(path: string, heading: string | null, before: string, after: string): NoteDiff {
  const lines = [line('removed', before), line('added', after)];
  return noteDiff(path, {
    unit: 'move-1',
    added: 1,
    removed: 1,
    hunks: [{ heading, properties: false, oldStart: 12, newStart: 12, lines }],
  });
}

const followers: readonly NoteDiff[] = [
  linking(
    'Diary/2026-11-03.md',
    'Evening',
    'Wrote the *[[Projects/Reading room/Minutes, November]]* until ten.',
    'Wrote the *[[Archive/2026/Minutes, November]]* until ten.',
  ),
  linking(
    'Municipality, contact persons.md',
    null,
    'Ms Zanin asked for *![[Projects/Reading room/Minutes, November#Money]]*',
    'Ms Zanin asked for *![[Archive/2026/Minutes, November#Money]]*',
  ),
  linking(
    'Boards/Reading room.canvas',
    null,
    '"file": "*Projects/Reading room*/Minutes, November.md"',
    '"file": "*Archive/2026*/Minutes, November.md"',
  ),
  linking(
    'Projects/Reading room.md',
    'Papers',
    '- *[Minutes](Reading%20room/Minutes,%20November.md)*',
    '- *[Minutes](../Archive/2026/Minutes,%20November.md)*',
  ),
];

const notes: readonly NoteDiff[] = [
  noteDiff(backup, { kind: 'trash' }),
  noteDiff('Archive/2026', { kind: 'make_folder' }),
  noteDiff('Groceries.md', {
    added: 1,
    hunks: [
      {
        heading: 'Sunday',
        properties: false,
        oldStart: 7,
        newStart: 7,
        lines: [line('same', '- sage'), line('added', '- 4 pears'), line('same', '')],
      },
    ],
    problem: 'Another program changed it since. Reject this change, then ask for it again.',
  }),
  ...followers,
  noteDiff(minutes, { kind: 'rename', to: archived, unit: 'move-1' }),
  noteDiff('Letters/Drafts', { kind: 'rename_folder', to: 'Archive/Letters', unit: 'move-2' }),
  noteDiff('Untitled folder', {
    kind: 'trash_folder',
    removed: 2,
    hunks: [
      {
        heading: null,
        properties: false,
        oldStart: 1,
        newStart: 1,
        lines: [line('removed', 'Drafts/Untitled.md'), line('removed', 'Untitled 2.md')],
      },
    ],
  }),
];

const reactions: ToolEvent[] = [
  ...followers.map(({ path }) => {
    return { type: 'changed', path, created: false, added: 1, removed: 1, waiting: true } as const;
  }),
  { type: 'moved', path: minutes, to: archived, waiting: true },
];

function call(name: string, tool: string, ...done: ToolEvent[]): ChatItem {
  return {
    type: 'tool',
    at: daysAgo(0),
    turn: 't1',
    call: name,
    tool,
    arguments: '{}',
    output: 'Done.',
    isError: false,
    reactions: done,
  };
}

export function moves(): Story {
  const request = 'Put the minutes of November into the archive of 2026, and clean up a little.';
  const conversation = row('archive', 'The archive of 2026', { waitingNotes: notes.length });
  return {
    snapshot: healthy([conversation]),
    notes: { [backup]: '# Reading room\n\nThe state of **October**.\n' },
    queries: {
      ...nothingKnown,
      stands: true,
      links: {
        [backup]: {
          ...{ out: [], outTotal: 0, unclearLine: null },
          ...{ back: [{ from: 'Diary/2026-10-30.md', line: 4 }], backTotal: 2 },
        },
      },
    },
    views: [
      view(
        conversation,
        [
          userMessage('u1', request),
          call('c0', 'get_file_info', { type: 'read', path: minutes }),
          call('c1', 'get_links', { type: 'searched', query: minutes, hits: 4 }),
          call('c2', 'move_file', ...reactions),
          call('c3', 'delete_file', {
            type: 'trashed',
            path: 'Projects/Reading room.md.bak.md',
            waiting: true,
          }),
          call('c4', 'create_folder', { type: 'folder_made', path: 'Archive/2026', waiting: true }),
          call('c5', 'move_file', {
            type: 'moved',
            path: 'Letters/Furlan.md',
            to: 'Letters/Signora Furlan.md',
            waiting: false,
          }),
          answered('a1', 'The minutes move with four links; two things go to the trash.'),
        ],
        {
          review: {
            id: 'review-2',
            conversation: 'archive',
            request,
            notes: [...notes],
            sources: [],
          },
        },
      ),
    ],
  };
}
