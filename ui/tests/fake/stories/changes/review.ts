/** Pending changes to three notes. */
import type { Story } from '../../story';
import { answered, daysAgo, healthy, row, userMessage, view } from '../base';
import { line, noteDiff } from './diff';

const library = noteDiff('Projects/Harbour Library.md', {
  kind: 'replace',
  added: 3,
  removed: 3,
  hunks: [
    {
      heading: null,
      properties: true,
      oldStart: 1,
      newStart: 1,
      lines: [
        line('same', '---'),
        line('removed', 'status: *planning*'),
        line('added', 'status: *open*'),
        line('same', '---'),
      ],
    },
    {
      heading: 'Opening',
      properties: false,
      oldStart: 9,
      newStart: 9,
      lines: [
        line(
          'removed',
          '*The harbour project* opens on *1 March* with the shelves we have. The reading room follows *as soon as the money is there*.',
        ),
        line(
          'added',
          '*Harbour Library* opens on *9 January* with the shelves we have. The reading room follows *in spring, once the municipality has paid the second half*.',
        ),
      ],
    },
    {
      heading: 'Still to do',
      properties: false,
      oldStart: 11,
      newStart: 11,
      lines: [
        line('same', '- Insurance for the building'),
        line('removed', '- Ask Paolo for the second set of keys'),
        line('added', '- Sign at the door with the new name'),
      ],
    },
  ],
});

const plan = noteDiff('Projects/Reading room, opening plan.md', {
  kind: 'replace',
  added: 1,
  removed: 1,
  hunks: [
    {
      heading: 'Opening on 9 January',
      properties: false,
      oldStart: 4,
      newStart: 4,
      lines: [
        line('removed', '## Opening *in March*'),
        line('added', '## Opening *on 9 January*'),
        line('same', ''),
        line('same', 'Sign at the door, Paolo, 20 December'),
      ],
    },
  ],
});

const invitation = noteDiff('Letters/Invitation.md', {
  kind: 'create',
  added: 4,
  removed: 0,
  hunks: [
    {
      heading: null,
      properties: false,
      oldStart: 0,
      newStart: 1,
      lines: [
        line('added', '# Invitation'),
        line('added', ''),
        line('added', 'Dear neighbours,'),
        line('added', 'the Harbour Library opens on 9 January at five in the afternoon.'),
      ],
    },
  ],
});

export function review(): Story {
  const request =
    'Harbour is now called Harbour Library and opens on 9 January. Put that right everywhere and write an invitation.';
  const notes = [library, plan, invitation];
  const conversation = row('harbour', 'Rename Harbour to Harbour Library', { waitingNotes: 3 });
  return {
    snapshot: healthy([conversation]),
    notes: {},
    views: [
      view(
        conversation,
        [
          userMessage('u1', request),
          {
            type: 'tool',
            at: daysAgo(0),
            turn: 't1',
            call: 'c1',
            tool: 'edit_file',
            arguments: '{\n  "path": "Projects/Harbour Library.md"\n}',
            output: 'Planned; it waits for the user.',
            isError: false,
            reactions: notes.map((note) => ({
              type: 'changed',
              path: note.path,
              created: note.kind === 'create',
              added: note.added,
              removed: note.removed,
              waiting: true,
            })),
          },
          answered(
            'a1',
            'Two notes speak of the opening, and the invitation is a draft. All three wait for you.',
          ),
        ],
        {
          review: {
            id: 'review-1',
            conversation: 'harbour',
            request,
            notes,
            sources: ['hub', 'note:Letters/Municipality.md'],
          },
        },
      ),
    ],
  };
}

/** Sixty notes in three decisions: one name everywhere, one note in full, one to the trash. */
export function sixty(): Story {
  const request = 'Harbour is now called Harbour Library. Rename it everywhere and clean up.';
  const said57 = [
    ['Keys for', 'collected, the second set stays with Paolo'],
    ['Ms Zanin decides about', 'and the school library'],
    ['Called the joiner about the shelves for', 'again'],
  ] as const;
  const renamed = Array.from({ length: 58 }, (_, at) => {
    const [before, after] = said57[at % said57.length] ?? ['', ''];
    const day = `${1 + (at % 28)}`.padStart(2, '0');
    const month = `${1 + Math.floor(at / 28)}`.padStart(2, '0');
    return noteDiff(`Diary/2026-${month}-${day}.md`, {
      added: 1,
      removed: 1,
      hunks: [
        {
          heading: 'Afternoon',
          properties: false,
          oldStart: 12,
          newStart: 12,
          lines: [
            line('same', 'Rain until four.'),
            line('removed', `${before} *[[Harbour]]* ${after}.`),
            line('added', `${before} *[[Harbour Library]]* ${after}.`),
          ],
        },
      ],
    });
  });
  const drafts = noteDiff('Archive/Harbour drafts.md', { kind: 'trash' });
  const notes = [...renamed, library, drafts];
  const conversation = row('harbour', 'Rename Harbour to Harbour Library', { waitingNotes: 60 });
  return {
    snapshot: healthy([conversation]),
    notes: {},
    views: [
      view(
        conversation,
        [userMessage('u1', request), answered('a1', 'Sixty notes are planned and wait for you.')],
        { review: { id: 'review-60', conversation: 'harbour', request, notes, sources: [] } },
      ),
    ],
  };
}

/** Twelve notes that get the same property: one decision. */
export function equal(): Story {
  const request = 'Mark the minutes of this year as done.';
  const notes = Array.from({ length: 12 }, (_, at) =>
    noteDiff(`Minutes/2026-${`${1 + at}`.padStart(2, '0')}.md`, {
      added: 1,
      hunks: [
        {
          heading: null,
          properties: true,
          oldStart: 2,
          newStart: 2,
          lines: [line('same', `topic: Meeting ${1 + at}`), line('added', 'status: done')],
        },
      ],
    }),
  );
  const conversation = row('minutes-done', 'Minutes that are done', { waitingNotes: 12 });
  return {
    snapshot: healthy([conversation]),
    notes: {},
    views: [
      view(
        conversation,
        [userMessage('u1', request), answered('a1', 'Twelve notes wait for you.')],
        {
          review: {
            ...{ id: 'review-12', conversation: 'minutes-done', request, notes, sources: [] },
          },
        },
      ),
    ],
  };
}
