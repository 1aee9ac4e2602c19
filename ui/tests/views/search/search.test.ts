import { fireEvent, render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { indexing, search } from '../../fake/stories/search';

async function open(tell = search) {
  const host = new FakeHost(tell());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  return { host, session, keys: userEvent.setup() };
}

const goTo = '{Control>}p{/Control}';
const find = '{Control>}{Shift>}f{/Shift}{/Control}';

/** Tells the window that notes changed. */
function change(host: FakeHost, session: Session, revision: number): void {
  const { vault } = session.app;
  if (!vault) throw new Error('no vault');
  host.tell({ type: 'vault_changed', vault: { ...vault, revision } });
}

describe('going to a note by its name', () => {
  it('marks the letters, names the note of an alias and opens it by keyboard', async () => {
    const { host, keys } = await open();
    await keys.keyboard(goTo);
    const field = screen.getByTestId('switcher-field');
    expect(field).toHaveFocus();
    await keys.keyboard('boi');
    const option = await screen.findByRole('option', { name: /Boiler alias of Heating/ });
    expect(option.querySelector('mark')).toHaveTextContent('Boi');
    expect(field).toHaveAttribute('aria-activedescendant', option.id);
    await keys.keyboard('{Enter}');
    expect(await screen.findByTestId('note-pane')).toHaveTextContent('Heating');
    expect(screen.queryByTestId('switcher')).toBeNull();
    expect(host.asked('showNote')).toEqual(['House/Heating.md']);
  });

  it('moves with the arrows, around the ends too', async () => {
    const { session, keys } = await open();
    await keys.keyboard(goTo);
    const options = await screen.findAllByRole('option');
    expect(options.length).toBeGreaterThan(2);
    await keys.keyboard('{ArrowUp}');
    expect(session.switcher.at).toBe(options.length - 1);
    await keys.keyboard('{ArrowDown}{ArrowDown}');
    expect(options[1]).toHaveAttribute('aria-selected', 'true');
  });

  it('says that nothing is called so, and closes without a trace', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard(goTo);
    await keys.keyboard('xyz');
    expect(await screen.findByTestId('switcher-none')).toHaveTextContent('No matching notes');
    await keys.keyboard('{Enter}');
    expect(host.asked('showNote')).toEqual([]);
    session.switcher.close();
    await waitFor(() => expect(screen.queryByTestId('switcher')).toBeNull());
  });
});

describe('searching the text', () => {
  it('shows lines under their notes as one types, previews the line and opens there', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard(find);
    const field = await screen.findByTestId('search-field');
    expect(field).toHaveFocus();
    expect(screen.getByTestId('search-summary')).toHaveTextContent('Type to search all notes');
    await keys.keyboard('expansion vessel');
    await waitFor(() =>
      expect(screen.getByTestId('search-summary')).toHaveTextContent(/^6 lines in 4 notes$/),
    );
    const heating = screen.getByRole('group', { name: 'House/Heating.md' });
    expect(within(heating).getAllByRole('option')).toHaveLength(2);
    await keys.keyboard('{ArrowDown}');
    const chosen = screen.getAllByRole('option')[1];
    expect(field).toHaveAttribute('aria-activedescendant', chosen?.id);
    const preview = await screen.findByTestId('search-preview');
    await waitFor(() =>
      expect(preview.querySelector('[data-here]')).toHaveTextContent('Pre-charge of the expansion'),
    );
    expect(host.asked('showNote'), 'looking shows nothing to a model').toEqual([]);
    await keys.keyboard('{Enter}');
    const pane = await screen.findByTestId('note-pane');
    expect(pane.querySelector('[data-here]')).toHaveTextContent('Pre-charge of the expansion');
    expect(session.place.name).toBe('chat');
    await keys.keyboard(find);
    expect(await screen.findByTestId('search-field')).toHaveValue('expansion vessel');
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  });

  it('takes no key of an input method', async () => {
    const { session, keys } = await open();
    await keys.keyboard(find);
    const field = await screen.findByTestId('search-field');
    await fireEvent.keyDown(field, { key: 'Escape', keyCode: 229 });
    await fireEvent.keyDown(field, { key: 'Enter', keyCode: 229 });
    expect(session.place.name).toBe('search');
    await fireEvent.keyDown(field, { key: 'Escape' });
    await waitFor(() => expect(session.place.name).toBe('chat'));
  });

  it('is left by Esc, but not by one that is meant for a dialog over it', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard(find);
    await screen.findByTestId('search-field');
    host.tell({ type: 'close_asked' });
    const dialog = await screen.findByRole('dialog');
    await keys.keyboard('{Escape}');
    expect(session.place.name).toBe('search');
    dialog.dispatchEvent(new Event('cancel'));
    await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(session.place.name).toBe('chat'));
  });

  it('tells the fault of an expression and offers the exact text instead', async () => {
    const { host, keys } = await open();
    await keys.keyboard(find);
    await keys.click(await screen.findByRole('checkbox', { name: 'Regular expression' }));
    await keys.type(screen.getByTestId('search-field'), '(vessel');
    const problem = await screen.findByTestId('search-problem');
    expect(problem).toHaveTextContent('“(vessel” isn’t a valid regular expression');
    await keys.click(within(problem).getByTestId('search-literally'));
    await waitFor(() => expect(screen.queryByTestId('search-problem')).toBeNull());
    expect(screen.getByRole('checkbox', { name: 'Regular expression' })).not.toBeChecked();
    expect(host.asked('searchText').at(-1)).toMatchObject({
      pattern: '(vessel',
      meaning: 'literal',
    });
    await keys.click(screen.getByRole('checkbox', { name: 'Match case' }));
    expect(host.asked('searchText').at(-1)).toMatchObject({ caseSensitive: true });
  });

  it('asks again when notes changed, keeps the selected row, and asks nothing elsewhere', async () => {
    const { host, session, keys } = await open();
    change(host, session, 1);
    expect(host.asked('searchText')).toEqual([]);
    await keys.keyboard(find);
    await keys.keyboard('vessel{ArrowDown}');
    const asked = host.asked('searchText').length;
    change(host, session, 2);
    await waitFor(() => expect(host.asked('searchText')).toHaveLength(asked + 1), {
      timeout: 2000,
    });
    expect(session.search.at).toBe(1);
  });

  it('tells the truth about what is not shown', async () => {
    const { host, session, keys } = await open();
    host.searchText = () =>
      Promise.resolve({ notes: [], lines: 900, files: 30, cut: 'length' as const });
    await keys.keyboard(find);
    await keys.keyboard('a');
    const summary = screen.getByTestId('search-summary');
    await waitFor(() =>
      expect(summary).toHaveTextContent('900 lines in 30 notes · Not all results'),
    );
    host.searchText = () =>
      Promise.resolve({ notes: [], lines: 0, files: 0, cut: 'time' as const });
    await session.search.again();
    await waitFor(() => expect(summary).toHaveTextContent('No results · The search timed out'));
  });
});

describe('lists of the vault', () => {
  it('lead from a tag to its notes and back', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard(find);
    await keys.click(await screen.findByTestId('search-tags'));
    expect(await screen.findByRole('option', { name: /#house 41/ })).toBeVisible();
    expect(screen.getByTestId('search-field')).toHaveFocus();
    await keys.keyboard('li{ArrowDown}');
    expect(screen.getByTestId('search-summary')).toHaveTextContent('2 entries');
    await keys.keyboard('{Enter}');
    expect(await screen.findByTestId('search-into')).toHaveTextContent(
      'Notes with #lists/shopping',
    );
    expect(host.asked('notesMatching')).toEqual([{ type: 'tag', tag: 'lists/shopping' }]);
    expect(await screen.findByTestId('search-preview')).toHaveTextContent('Heating');
    await keys.keyboard('{Escape}');
    await waitFor(() => expect(screen.queryByTestId('search-into')).toBeNull());
    expect(session.place.name).toBe('search');
  });

  it('lead from a property over a value to its notes', async () => {
    const { host, keys } = await open();
    await keys.keyboard(find);
    await keys.click(await screen.findByTestId('search-properties'));
    await keys.keyboard('{Enter}');
    expect(await screen.findByTestId('search-into')).toHaveTextContent('Values of “serviced”');
    await screen.findByRole('option', { name: /4 March 2026/ });
    await keys.keyboard('{Enter}');
    await waitFor(() =>
      expect(host.asked('notesMatching')).toEqual([
        { type: 'value', property: 'serviced', value: '4 March 2026' },
      ]),
    );
  });

  it('lead on with one click on a tag, a property and a broken link', async () => {
    const { host, session, keys } = await open();
    await keys.keyboard(find);
    for (const [list, words, into] of [
      ['tags', /#house 41/, 'Notes with #house'],
      ['properties', /serviced 7/, 'Values of “serviced”'],
      ['broken', /Tool cupboard 3/, 'Notes that link to “Tool cupboard”'],
    ] as const) {
      await keys.click(screen.getByTestId(`search-${list}`));
      await keys.click(await screen.findByRole('option', { name: words }));
      expect(await screen.findByTestId('search-into')).toHaveTextContent(into);
      expect(screen.getByTestId('search-field')).toHaveFocus();
    }
    const preview = await screen.findByTestId('search-preview');
    await waitFor(() =>
      expect(preview.querySelector('[data-here]')).toHaveTextContent('in the Tool cupboard'),
    );
    await keys.dblClick(screen.getByRole('option', { name: /Heating/ }));
    const pane = await screen.findByTestId('note-pane');
    expect(pane.querySelector('[data-here]')).toHaveTextContent('in the Tool cupboard');
    expect(session.note.at).toEqual({ line: 17 });
    expect(host.asked('showNote')).toEqual(['House/Heating.md']);
  });

  it('open a note with one click where there is no room beside them', async () => {
    const wide = globalThis.matchMedia;
    globalThis.matchMedia = (media) => Object.assign(wide(media), { matches: true });
    try {
      const { host, keys } = await open();
      await keys.keyboard(find);
      await keys.click(screen.getByTestId('search-tasks'));
      await keys.click(await screen.findByRole('option', { name: /ask Bruno for the pump/ }));
      await waitFor(() => expect(host.asked('showNote')).toEqual(['House/Heating.md']));
    } finally {
      globalThis.matchMedia = wide;
    }
  });

  it('show open tasks and broken links', async () => {
    const { keys } = await open();
    await keys.keyboard(find);
    await keys.click(await screen.findByTestId('search-tasks'));
    expect(await screen.findByRole('option', { name: /ask Bruno for the pump/ })).toBeVisible();
    expect(screen.getByTestId('search-summary')).toHaveTextContent('3 open tasks in 2 notes');
    expect(screen.queryByRole('option', { name: /buy a second key/ })).toBeNull();
    await keys.click(screen.getByTestId('search-broken'));
    expect(await screen.findByRole('option', { name: /Tool cupboard 3/ })).toBeVisible();
  });

  it('say that the notes are being indexed, and fill in when they are', async () => {
    const { host, session, keys } = await open(indexing);
    expect(screen.getByTestId('status-indexing')).toHaveTextContent(/12.000/);
    await keys.keyboard(find);
    await keys.click(await screen.findByTestId('search-tags'));
    expect(screen.getByTestId('search-summary')).toHaveTextContent('Available once');
    host.listTags = () => Promise.resolve({ words: [{ word: 'house', notes: 2 }], total: 1 });
    const { vault } = session.app;
    if (!vault) throw new Error('no vault');
    host.tell({ type: 'vault_changed', vault: { ...vault, indexing: null } });
    expect(await screen.findByRole('option', { name: /#house 2/ })).toBeVisible();
    expect(screen.queryByTestId('status-indexing')).toBeNull();
  });
});

describe('the links of the shown note', () => {
  it('are shown both ways, lead on, and are loaded again when notes change', async () => {
    const { host, session, keys } = await open();
    await session.showNote('House/Heating.md');
    const links = await screen.findByTestId('note-links');
    expect(within(links).getByText('broken link')).toBeVisible();
    expect(within(links).queryByRole('button', { name: /Tool cupboard/ })).toBeNull();
    const asked = host.asked('noteLinks').length;
    change(host, session, 1);
    await waitFor(() => expect(host.asked('noteLinks')).toHaveLength(asked + 1));
    await keys.click(within(links).getByRole('button', { name: /2026-02-17.*line 5/ }));
    const pane = screen.getByTestId('note-pane');
    await waitFor(() =>
      expect(pane.querySelector('[data-here]')).toHaveTextContent('Bruno says the expansion'),
    );
  });

  it('are not known while the notes are indexed', async () => {
    const { session } = await open(indexing);
    await session.showNote('House/Heating.md');
    expect(await screen.findByTestId('note-links')).toHaveTextContent(
      'once your notes are indexed',
    );
  });
});

describe('repairing a broken link', () => {
  async function broken(link: RegExp) {
    const opened = await open();
    await opened.keys.keyboard(find);
    await opened.keys.click(await screen.findByTestId('search-broken'));
    await opened.keys.click(await screen.findByRole('option', { name: link }));
    await waitFor(() => expect(opened.host.asked('linkRepairs').length).toBeGreaterThan(1));
    const repairs = await screen.findByTestId('broken-link');
    return { ...opened, repairs };
  }

  it('creates the note that it names with one click, goes back to the others and can be undone', async () => {
    const { host, keys, repairs } = await broken(/^Household contact/);
    await keys.click(within(repairs).getByRole('button', { name: 'Create “Household contact”' }));
    expect(host.asked('createLinkedNote')).toEqual(['Household contact']);
    const notice = await screen.findByTestId('kept-notice');
    expect(notice).toHaveTextContent('“Household contact” was created');
    expect(await screen.findByRole('option', { name: /^Tool cupboard/ })).toBeInTheDocument();
    expect(screen.queryByRole('option', { name: /^Household contact/ })).toBeNull();
    expect(screen.getByTestId('search-field')).toHaveFocus();
    await keys.click(within(notice).getByRole('button', { name: 'Undo' }));
    const [undone] = host.asked('undo');
    expect(undone).toMatchObject({ type: 'change_set' });
  });

  it('has it lead to the note with the nearest name instead, and says in how many notes', async () => {
    const { host, keys, repairs } = await broken(/^Household contact/);
    await keys.click(
      within(repairs).getByRole('button', { name: 'Link to “Household contacts” instead' }),
    );
    const note = 'House/Household contacts.md';
    expect(host.asked('replaceBrokenLink')).toEqual([{ link: 'Household contact', note }]);
    expect(await screen.findByTestId('kept-notice')).toHaveTextContent(
      '2 notes now link to “Household contacts”',
    );
  });

  it('offers the repairs: no note for an image, and the notes at the link in any case', async () => {
    const { repairs } = await broken(/^plan of the cellar/);
    expect(within(repairs).queryAllByRole('button')).toEqual([]);
    expect(repairs).toHaveTextContent('No note has a similar name.');
    expect(screen.getAllByRole('option').length).toBeGreaterThan(0);
  });

  it('says why a repair was refused, and leaves the link where it is', async () => {
    const { host, keys, repairs } = await broken(/^Tool cupboard/);
    host.refusals.set('createLinkedNote', { code: 'write', message: 'The disk is full.' });
    await keys.click(within(repairs).getByRole('button', { name: /^Create/ }));
    expect(await screen.findByTestId('problem')).toHaveTextContent('The disk is full.');
    expect(screen.getByTestId('broken-link')).toBeInTheDocument();
  });
});

describe('a word typed into a list', () => {
  it('filters the list, says so, and is looked for in all notes with one click', async () => {
    const { host, session, keys } = await open();
    session.openSearch('broken');
    const field = await screen.findByRole('combobox', { name: 'Filter “Broken links”' });
    await keys.type(field, 'vessel');
    await waitFor(() =>
      expect(screen.getByTestId('search-summary')).toHaveTextContent(
        'No results in “Broken links”',
      ),
    );
    await keys.click(screen.getByRole('button', { name: 'Search all notes for “vessel”' }));
    expect(host.asked('searchText').at(-1)).toMatchObject({ pattern: 'vessel' });
    expect(await screen.findByRole('combobox', { name: 'Search all notes' })).toHaveFocus();
    expect((await screen.findAllByRole('option')).length).toBeGreaterThan(0);
  });
});

describe('the note beside the results', () => {
  it('draws a broken link as in the note itself', async () => {
    const { session, keys } = await open();
    session.openSearch();
    await keys.type(await screen.findByTestId('search-field'), 'upstairs');
    const link = await within(await screen.findByTestId('search-preview')).findByText(
      'Tool cupboard',
    );
    await waitFor(() => expect(link.closest('[data-broken]')).not.toBeNull());
  });
});

describe('the notice of a repair', () => {
  it('has a place of its own in a search, where controls stand everywhere', async () => {
    const { session, keys } = await open();
    session.openSearch('broken');
    await keys.click(await screen.findByRole('option', { name: /Minutes 2019/ }));
    await keys.click(await screen.findByRole('button', { name: /^Create/ }));
    const notice = await screen.findByTestId('kept-notice');
    const place = notice.closest('.place');
    expect(place).toHaveClass('within');
    session.backToChat();
    await waitFor(() => expect(place).not.toHaveClass('within'));
  });
});
