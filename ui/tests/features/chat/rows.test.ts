import { describe, expect, it } from 'vitest';

import { rows, type ToolItem } from '../../../src/features/chat/rows';
import { toolLines } from '../../../src/features/chat/tool-calls/tool-line';
import type { ChatItem, ToolEvent } from '../../../src/ipc/bindings';
import { answered, userMessage } from '../../fake/stories/base';

let calls = 0;

function tool(change: Partial<ToolItem>): ToolItem {
  calls += 1;
  return {
    type: 'tool',
    at: 0,
    turn: 't',
    call: `c${calls}`,
    tool: 'read_file',
    arguments: '{}',
    output: 'done',
    isError: false,
    reactions: [],
    ...change,
  };
}

function read(path: string): ToolItem {
  return tool({ reactions: [{ type: 'read', path }] });
}

function changed(change: Partial<Extract<ToolEvent, { type: 'changed' }>>): ToolItem {
  const reaction = { path: 'Lists/Groceries.md', created: false, added: 0, removed: 0 };
  return tool({
    tool: 'edit_file',
    reactions: [{ type: 'changed', waiting: false, ...reaction, ...change }],
  });
}

function did(...reactions: ToolEvent[]): ToolItem {
  return tool({ tool: 'move_file', reactions });
}

function moved(path: string, to: string): Extract<ToolEvent, { type: 'moved' }> {
  return { type: 'moved', path, to, waiting: false };
}

function link(path: string): ToolEvent {
  return { type: 'changed', path, created: false, added: 1, removed: 1, waiting: false };
}

/** A line's text, as it is read. */
function lines(...items: ToolItem[]): string[] {
  return toolLines(items).map(({ before, note, after }) => before + note + after);
}

describe('edits of one note', () => {
  const waits = (given: object, path?: string): ToolItem => ({
    ...changed({ waiting: true, added: 1, ...(path !== undefined && { path }) }),
    arguments: JSON.stringify({ path: path ?? 'Lists/Groceries.md', ...given }),
  });
  const edits = [waits({ text: 'a' }), waits({ text: 'b' }), waits({ text: 'c' })];

  it('share one line while they need review', () => {
    expect(lines(...edits)).toEqual(['Proposed 3 changes to Groceries']);
  });

  it('share one line once they are made, with all their lines', () => {
    const made = [changed({ added: 2 }), changed({ added: 1 })].map((call, at) => ({
      ...call,
      arguments: JSON.stringify({ text: at }),
    }));
    expect(lines(...made)).toEqual(['Added 3 lines to Groceries']);
    const [first] = edits;
    expect(first && lines(first, ...made)).toHaveLength(2);
  });

  it('share none where their states differ by now', () => {
    const [, second] = edits;
    const state = (call: ToolItem): string => (call === second ? 'rejected' : 'applied');
    expect(toolLines(edits, state)).toHaveLength(3);
    expect(toolLines(edits, () => 'applied')).toHaveLength(1);
  });

  it('share none with equal changes of other notes, nor with what creates the note', () => {
    const [first, second] = edits;
    if (!first || !second) throw new Error('no edits');
    const other = waits({ text: 'a' }, 'Soup.md');
    expect(lines(first, other, second)).toEqual([
      'Proposed changes to 2 notes',
      'Proposed changes to Groceries',
    ]);
    expect(lines(first, second, other)).toEqual([
      'Proposed 2 changes to Groceries',
      'Proposed changes to Soup',
    ]);
    expect(lines(changed({ created: true, waiting: true }), first)).toEqual([
      'Proposed new note Groceries',
      'Proposed changes to Groceries',
    ]);
  });
});

describe('a tool line', () => {
  it.each<[string, ToolItem]>([
    ['Read Groceries', read('Lists/Groceries.md')],
    [
      'Listed 2 items',
      tool({ reactions: [{ type: 'passages', query: '', passages: [], total: 2 }] }),
    ],
    [
      'Opened Groceries',
      tool({ reactions: [{ type: 'open_note', path: 'Lists/Groceries.md', line: 3 }] }),
    ],
    ['Added 1 line to Groceries', changed({ added: 1 })],
    ['Added 3 lines to Groceries', changed({ added: 3 })],
    ['Removed 2 lines from Groceries', changed({ removed: 2 })],
    ['Changed Groceries', changed({ added: 1, removed: 1 })],
    ['Created Groceries', changed({ created: true, added: 4 })],
    ['Proposed changes to Groceries', changed({ added: 1, waiting: true })],
    ['Proposed new note Groceries', changed({ created: true, waiting: true })],
    [
      'Found 2 matches for “pears”',
      tool({ reactions: [{ type: 'searched', query: 'pears', hits: 2 }] }),
    ],
    [
      'No matches for “pears”',
      tool({ reactions: [{ type: 'searched', query: 'pears', hits: 0 }] }),
    ],
    [
      'Listed 3 items',
      tool({
        tool: 'list_files',
        reactions: [{ type: 'searched', query: '**/*.md', hits: 3 }],
      }),
    ],
    ['Moved Soup to Archive', did(moved('Recipes/Soup.md', 'Archive/Soup.md'))],
    ['Moved Soup to the vault root', did(moved('Recipes/Soup.md', 'Soup.md'))],
    ['Moved Soup to Archive/Broth', did(moved('Recipes/Soup.md', 'Archive/Broth'))],
    ['Renamed Soup to Broth', did(moved('Recipes/Soup.md', 'Recipes/Broth.md'))],
    [
      'Moved Soup to Archive and updated links in 2 notes',
      did(link('a.md'), link('b.md'), moved('Recipes/Soup.md', 'Archive/Soup.md')),
    ],
    [
      'Proposed moving Soup to Archive',
      did({ ...moved('Soup.md', 'Archive/Soup.md'), waiting: true }),
    ],
    ['Proposed renaming Soup to Broth', did({ ...moved('Soup.md', 'Broth.md'), waiting: true })],
    ['Moved Soup to trash', did({ type: 'trashed', path: 'Recipes/Soup.md', waiting: false })],
    [
      'Proposed moving Soup to trash',
      did({ type: 'trashed', path: 'Recipes/Soup.md', waiting: true }),
    ],
    ['Created folder 2026', did({ type: 'folder_made', path: 'Archive/2026', waiting: false })],
    [
      'Proposed creating folder 2026',
      did({ type: 'folder_made', path: 'Archive/2026', waiting: true }),
    ],
    [
      'Found 3 links for Soup',
      tool({
        tool: 'get_links',
        reactions: [{ type: 'searched', query: 'Recipes/Soup.md', hits: 3 }],
      }),
    ],
    ['Checked note details', tool({ tool: 'get_file_info' })],
    ['Couldn’t move a note', tool({ tool: 'move_file', isError: true })],
    ['Moving a note to trash', tool({ tool: 'delete_file', output: null })],
    ['No folder created', tool({ tool: 'create_folder' })],
    ['Reading a note', tool({ output: null })],
    ['Couldn’t read a note', tool({ isError: true })],
    ['Checked the time', tool({ tool: 'get_current_time' })],
    ['brew_coffee', tool({ tool: 'brew_coffee' })],
    ['brew_coffee failed', tool({ tool: 'brew_coffee', isError: true })],
  ])('says its effect: %s', (words, item) => {
    expect(lines(item)).toEqual([words]);
  });

  it('leads to where a moved note is, and only to notes', () => {
    const [there] = toolLines([did(link('a.md'), moved('Recipes/Soup.md', 'Archive/Soup.md'))]);
    expect(there?.notes).toEqual(['Archive/Soup.md', 'a.md']);
    const [folder] = toolLines([did({ ...moved('Recipes', 'Archive/Recipes'), waiting: true })]);
    expect(folder?.notes).toEqual([]);
    expect(folder?.changed).toEqual(['Recipes']);
    expect(folder?.tone).toBe('pending');
  });

  it('is shared by reads that follow each other, and only by them', () => {
    expect(lines(read('a.md'), read('b.md'), changed({ added: 1 }), read('c.md'))).toEqual([
      'Read 2 notes',
      'Added 1 line to Groceries',
      'Read c',
    ]);
  });

  it('is shared by equal changes of several notes, and by no others', () => {
    const set = (path: string, value: string, waiting = false) => ({
      ...changed({ path, added: 1, waiting }),
      tool: 'set_property',
      arguments: JSON.stringify({ path, property: 'status', action: 'set', value }),
    });
    const notes = Array.from({ length: 12 }, (_, at) => `Note ${at}.md`);
    expect(lines(...notes.map((path) => set(path, 'done')))).toEqual(['Changed 12 notes']);
    expect(lines(...notes.map((path) => set(path, 'done', true)))).toEqual([
      'Proposed changes to 12 notes',
    ]);
    expect(lines(set('a.md', 'done'), set('b.md', 'open'), set('c.md', 'open', true))).toEqual([
      'Added 1 line to a',
      'Added 1 line to b',
      'Proposed changes to c',
    ]);
    expect(lines(...notes.map((path, at) => set(path, at < 11 ? 'done' : 'dune')))).toEqual([
      'Changed 11 notes',
      'Added 1 line to Note 11',
    ]);
    expect(lines(set('a.md', 'done'), { ...set('b.md', 'done'), tool: 'append_file' })).toEqual([
      'Added 1 line to a',
      'Added 1 line to b',
    ]);
  });

  it.each([
    ['Couldn’t edit Groceries', 'edit_file', { path: 'Lists/Groceries.md' }],
    ['Couldn’t move Soup', 'move_file', { source: 'Soup.md', destination: 'Archive/Soup.md' }],
    ['Couldn’t read Soup', 'read_file', { path: 'Soup' }],
    ['Couldn’t check the links of Soup', 'get_links', { path: 'Soup.md' }],
    ['Couldn’t check Soup', 'get_file_info', { path: 'Soup.md' }],
    ['Couldn’t move Soup to trash', 'delete_file', { path: 'Soup.md' }],
    ['Couldn’t create folder 2026', 'create_folder', { path: 'Archive/2026' }],
    ['Couldn’t edit Soup', 'set_property', { path: 'Soup.md', property: 'status' }],
    ['Couldn’t edit Soup', 'edit_section', { path: 'Soup.md', heading: 'Tasks' }],
    ['Couldn’t edit Soup', 'append_file', { path: 'Soup.md', content: 'x' }],
    ['Couldn’t edit Soup', 'write_file', { path: 'Soup.md', content: 'x' }],
    ['Couldn’t edit a note', 'edit_file', { path: 7 }],
    // The control: of a tool that nobody knows here only its name is told.
    ['edit_properties failed', 'edit_properties', { path: 'Soup.md' }],
  ])('names the note that failed: %s, for %s', (words, name, given) => {
    expect(lines(tool({ tool: name, isError: true, arguments: JSON.stringify(given) }))).toEqual([
      words,
    ]);
  });

  it('counts a note that was read twice once', () => {
    expect(lines(read('a.md'), read('a.md'))).toEqual(['Read a']);
  });

  it('of a failure stands out and apart', () => {
    const [, failure] = toolLines([read('a.md'), tool({ isError: true, output: 'no' })]);
    expect(failure?.tone).toBe('error');
  });
});

describe('the rows of a chat', () => {
  const passages: ToolEvent = { type: 'passages', query: 'q', passages: [], total: 0 };
  const kinds = (items: ChatItem[], passagesAreAnswers = false) =>
    rows(items, { passagesAreAnswers }).map((row) =>
      row.kind === 'item' ? row.item.type : row.kind,
    );

  it('begin each day with its name', () => {
    const yesterday = Date.now() - 86_400_000;
    expect(
      kinds([
        userMessage('1', 'a', yesterday),
        userMessage('2', 'b', yesterday),
        userMessage('3', 'c'),
      ]),
    ).toEqual(['day', 'user', 'user', 'day', 'user']);
  });

  it('hold tool calls together that no text stands between', () => {
    expect(kinds([read('a.md'), read('b.md'), answered('1', 'x'), read('c.md')])).toEqual([
      'tools',
      'assistant',
      'tools',
      'actions',
    ]);
  });

  it('end an answer of several parts with one row of actions, below its calls', () => {
    const parts = [
      userMessage('u', 'Go'),
      answered('1', 'First.'),
      read('a.md'),
      answered('2', 'Then.'),
    ];
    const ended = { type: 'ended', turn: 't', status: 'failed', error: null, offer: null } as const;
    const all = [...parts, read('b.md'), ended, userMessage('u2', 'And?'), answered('3', 'So.')];
    const actions = rows(all, { passagesAreAnswers: false }).filter(
      (row) => row.kind === 'actions',
    );
    expect(actions.map(({ answer, texts }) => [answer, texts])).toEqual([
      ['2', ['First.', 'Then.']],
      ['3', ['So.']],
    ]);
    expect(kinds(all).slice(1)).toEqual([
      ...['user', 'assistant', 'tools', 'assistant', 'tools', 'actions', 'ended'],
      ...['user', 'assistant', 'actions'],
    ]);
  });

  it('have no actions below an answer that is being written', () => {
    const items = [userMessage('u', 'Go'), answered('1', 'First.')];
    const written = rows(items, { passagesAreAnswers: false, working: true });
    expect(written.map(({ kind }) => kind)).toEqual(['day', 'item', 'item']);
  });

  it('show passages as the answer without a model, under the text that introduces them', () => {
    const found = tool({ tool: 'find_notes', reactions: [passages] });
    expect(kinds([found, answered('1', '2 notes match')], true)).toEqual([
      ...['assistant', 'passages', 'actions'],
    ]);
    expect(kinds([found, answered('1', 'Because …')])).toEqual(['tools', 'assistant', 'actions']);
  });

  it('show what a command did and its reply as one card', () => {
    const own = (call: string): ToolItem =>
      tool({ call, reactions: [{ type: 'read', path: 'a' }] });
    expect(
      kinds([
        own('cmd-1'),
        own('cmd-2'),
        answered('1', 'Opened a.'),
        userMessage('2', 'b'),
        read('c'),
      ]),
    ).toEqual(['command', 'day', 'user', 'tools']);
    for (const why of ['No model connected.', 'The keyring is locked, so no model was asked.']) {
      expect(kinds([answered('1', `${why} These commands …`)])).toEqual(['command']);
    }
    expect(kinds([read('a.md'), answered('1', 'It says …')])).toEqual([
      'tools',
      'assistant',
      'actions',
    ]);
  });

  it('omit a good end, empty text and the open question', () => {
    expect(
      kinds([
        { type: 'ended', turn: 't', status: 'done', error: null, offer: null },
        answered('1', ''),
        { type: 'asked', id: 'q', text: 'Which?', answer: null, withdrawn: false },
      ]),
    ).toEqual([]);
  });

  it('keep their keys while an answer grows', () => {
    const reading = { passagesAreAnswers: false };
    const call = read('a.md');
    const before = rows([call, answered('1', 'x')], reading);
    const after = rows([call, answered('1', 'x and more')], reading);
    expect(after.map((row) => row.key)).toEqual(before.map((row) => row.key));
  });
});
