import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { lineOfLink, lineOfTarget } from '../../../src/state/notes/note-anchor';
import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { search } from '../../fake/stories/search';

async function open() {
  const host = new FakeHost(search());
  const session = new Session(host);
  render(App, { session });
  await session.start();
  await waitFor(() => expect(screen.getByTestId('composer')).toHaveFocus());
  return { host, session, keys: userEvent.setup() };
}

describe('the note pane', () => {
  it('opens the note in other programs, from its menu and from the palette', async () => {
    const { host, session, keys } = await open();
    await session.showNote('House/Heating');
    const pane = await screen.findByTestId('note-pane');
    await keys.click(within(pane).getByTestId('note-menu'));
    await keys.click(await screen.findByRole('menuitem', { name: 'Open in Obsidian' }));
    expect(host.asked('openInObsidian')).toEqual(['House/Heating.md']);
    const refusal = { code: 'other', message: 'There is no program for it.' };
    host.refusals.set('openInEditor', refusal);
    await keys.keyboard('{Control>}k{/Control}default editor{Enter}');
    await waitFor(() => expect(host.asked('openInEditor')).toEqual(['House/Heating.md']));
    await waitFor(() => expect(session.app.problems.map(({ error }) => error)).toEqual([refusal]));
  });

  it('shows the properties above the text, the items of a list with commas', async () => {
    const { session } = await open();
    await session.showNote('House/Heating');
    const pane = within(await screen.findByTestId('note-pane'));
    expect(pane.getByText('house, yearly')).toBeVisible();
    expect(pane.getByText('4 March 2026')).toBeVisible();
    expect(pane.queryByText('---')).toBeNull();
  });

  it('opens at the heading that a link names', async () => {
    const { session } = await open();
    await session.follow('House/Heating#Radiators');
    const pane = await screen.findByTestId('note-pane');
    await waitFor(() => expect(pane.querySelector('[data-here]')).toHaveTextContent('Radiators'));
    await session.follow('#Chimney sweep');
    await waitFor(() => expect(pane.querySelector('[data-here]')).toHaveTextContent('Chimney'));
  });

  it('shows a broken link as text with a mark, which cannot be opened', async () => {
    const { host, session, keys } = await open();
    await session.showNote('House/Heating');
    const broken = await screen.findByTitle('broken link');
    expect(broken).toHaveTextContent('Tool cupboard');
    expect(broken).not.toHaveAttribute('role');
    await keys.click(broken);
    expect(host.asked('showNote')).toEqual(['House/Heating.md']);
    const pane = screen.getByTestId('note-pane');
    await keys.click(within(pane).getByRole('link', { name: 'Household contacts' }));
    expect(host.asked('showNote')).toHaveLength(2);
  });
});

describe('the place that a link names', () => {
  const text = [
    '---',
    'a: b',
    '---',
    '```',
    '# Not this',
    '```',
    '## One: *two*',
    'words ^id-1',
    '# Not this',
  ].join('\n');
  it.each([
    ['Note#One two', 7],
    ['Note#Top#one: two|words', 7],
    ['Note#^id-1', 8],
    ['#Not this', 9],
    ['Note#Elsewhere', null],
    ['Note#^id', null],
    ['Note', null],
    ['Note#', null],
  ])('%s', (target, line) => {
    expect(lineOfTarget(text, target)).toBe(line);
  });

  it('is found soon below a heading of very many blanks that is no line for every program', () => {
    const below = `# ${' '.repeat(50_000)}x\u2028y\n# Plan`;
    const begun = performance.now();
    expect(lineOfTarget(below, 'Note#Plan')).toBe(2);
    expect(performance.now() - begun).toBeLessThan(500);
  });
});

describe('the line of a link', () => {
  it.each([
    ['a\n[[Tool cupboard]]', 2],
    ['[[tool cupboard#Left|there]]', 1],
    ['[[Tool cupboard 2]]\n[there](Tool%20cupboard.md)', 2],
    ['[there](<Tool cupboard>)', 1],
    ['[there]: Tool%20cupboard', 1],
    ['The Tool cupboard', null],
  ])('in %j is %s', (text, line) => {
    expect(lineOfLink(text, 'Tool cupboard')).toBe(line);
  });
});
