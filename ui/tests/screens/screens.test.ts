import { render, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import { tick } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Session } from '../../src/state/session.svelte';
import App from '../../src/views/App.svelte';
import { FakeHost } from '../fake/host';
import { stories } from '../fake/stories';
import type { Story } from '../fake/story';
import { act } from './actions';
import { screens } from './list';
import Literal from './Literal.svelte';
import { inHoles, outsideTheCatalogue, usePseudo, strings, wordedIn } from './pseudo.svelte';
import { begun, find } from './steps';

vi.mock('../../src/messages/messages', async (original) => {
  const { pseudo } = await import('./pseudo.svelte');
  return { m: pseudo((await original<{ m: Parameters<typeof pseudo>[0] }>()).m) };
});

vi.mock('../../src/shared/i18n/translate-sentence', async () => {
  const { pseudoWorded } = await import('./pseudo.svelte');
  return { translateSentence: pseudoWorded, translateAnswer: pseudoWorded };
});

/** Sentences of the fake application itself, and names that no language changes. */
const given = [
  'Vaultmate',
  'English Deutsch',
  'Documents/Books lent, and to whom.markdown',
  'Documents/Sample notes',
  'Esc F2 Enter',
];

afterEach(() => usePseudo(false));

/** Contrast needs a layout: the images look at it. */
const rules = { 'color-contrast': { enabled: false } };

describe.each(screens)('the screen $name', ({ story, steps, still }) => {
  it('keeps nobody out and says nothing past the catalogue', async () => {
    const told = stories[story]?.();
    if (!told) throw new Error(`no story ${story}`);
    const session = new Session(new FakeHost(told));
    render(App, { session });
    await session.start();
    await waitFor(() => expect(find(begun)).toBeDefined(), { timeout: 20_000 });
    await act(userEvent.setup(), [...steps, ...still]);

    const { violations } = await axe.run(document, { rules });
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);

    // It is active from one moment to the next: what was worded once and kept is found as well.
    usePseudo(true);
    await tick();
    expect(outsideTheCatalogue(document.documentElement, data(told))).toEqual([]);
  });
});

/** Texts that may be shown as they are: those of a story that the application has not worded. */
function data(told: Story): string[] {
  const worded = wordedIn(told);
  return [...strings(told).filter((text) => !worded.includes(text)), ...given, ...inHoles()];
}

it('a sentence of the application that is in no phrasebook is found', async () => {
  const [known, unknown] = ['Choose another folder.', 'Nobody put this into German.'];
  const told = stories['empty-vault']?.();
  if (!told) throw new Error('no story');
  const problems = [known, `${known} ${unknown}`].map(
    (message) => ({ code: 'other', message }) as const,
  );
  const story = { ...told, snapshot: { ...told.snapshot, problems } };
  const session = new Session(new FakeHost(story));
  render(App, { session });
  await session.start();
  await waitFor(() => expect(find(begun)).toBeDefined(), { timeout: 20_000 });
  usePseudo(true);
  await tick();
  expect(outsideTheCatalogue(document.documentElement, data(story))).toEqual([
    unknown.replace(/\.$/, ''),
  ]);
});

it('texts past the catalogue are found where a component shows them', () => {
  usePseudo(true);
  const { container } = render(Literal);
  expect(outsideTheCatalogue(container, [])).toEqual(['and nothing else', 'Write here']);
  expect(outsideTheCatalogue(container, ['land and nothing else'])).toEqual(['Write here']);
});
