/** Changes to three notes that wait for a verdict. */
import type { Story } from '../fake';
import { answered, healthy, row, said, view } from './base';
import { line, noteDiff } from './diff';

const library = noteDiff('Projects/Harbour Library.md', {
  kind: 'replace',
  added: 3,
  removed: 3,
  hunks: [
    {
      heading: null,
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
        line('same', ''),
        line('same', '## Still to do'),
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
          said('u1', request),
          {
            type: 'tool',
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
        { review: { id: 'review-1', conversation: 'harbour', request, notes } },
      ),
    ],
  };
}
