import { render, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import axe from 'axe-core';
import { tick } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { FakeHost } from '../../src/ipc/fake';
import { stories } from '../../src/ipc/stories';
import { Session } from '../../src/state/session.svelte';
import App from '../../src/views/App.svelte';
import { act } from './act';
import { screens } from './list';
import Literal from './Literal.svelte';
import { outsideTheCatalogue, speakPseudo, strings } from './pseudo.svelte';
import { begun, find } from './steps';

vi.mock('../../src/messages/messages', async (original) => {
  const { pseudo } = await import('./pseudo.svelte');
  return { m: pseudo((await original<{ m: Parameters<typeof pseudo>[0] }>()).m) };
});

/** What the application in memory words by itself, and names that no language changes. */
const given = [
  'Vaultmate',
  'English Deutsch',
  'Documents/Books lent, and to whom.markdown',
  'Haiku answered in 0.8 s.',
  'vessel” is no regular expression: unclosed group. Put it right, or look for exactly these words',
  'Documents/Sample notes',
  'Esc F2 Enter',
];

afterEach(() => speakPseudo(false));

/** Contrast needs a layout: the pictures look at it. */
const rules = { 'color-contrast': { enabled: false } };

describe.each(screens)('the screen $name', ({ story, steps }) => {
  it('keeps nobody out and says nothing past the catalogue', async () => {
    const told = stories[story]?.();
    if (!told) throw new Error(`no story ${story}`);
    const session = new Session(new FakeHost(told));
    render(App, { session });
    await session.start();
    await waitFor(() => expect(find(begun)).toBeDefined(), { timeout: 20_000 });
    await act(userEvent.setup(), steps);

    const { violations } = await axe.run(document, { rules });
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);

    // It is spoken from one moment to the next: what was worded once and kept is found as well.
    speakPseudo(true);
    const data = [...strings(told), ...given];
    await tick();
    expect(outsideTheCatalogue(document.documentElement, data)).toEqual([]);
  });
});

it('words past the catalogue are found where a component says them', () => {
  speakPseudo(true);
  const { container } = render(Literal);
  expect(outsideTheCatalogue(container, [])).toEqual(['and nothing else', 'Write here']);
  expect(outsideTheCatalogue(container, ['land and nothing else'])).toEqual(['Write here']);
});
