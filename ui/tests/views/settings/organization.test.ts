import { render, screen, waitFor } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

/** The settings of a window over a story. */
async function open(story: string, organisation = '') {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const { snapshot } = told;
  const settings = { ...snapshot.settings, organisation };
  const session = new Session(new FakeHost({ ...told, snapshot: { ...snapshot, settings } }));
  render(App, { session });
  await session.start();
  session.openSettings('answering');
  await screen.findByRole('textbox', named('How your notes are organized'));
  return { session, keys: userEvent.setup() };
}

const named = (name: string) => ({ name });

describe('how the notes are organized', () => {
  it('can begin with a starter text, which one press inserts and removes', async () => {
    const { session, keys } = await open('search');
    await keys.click(screen.getByRole('button', named('Insert starter text')));
    const field = screen.getByRole('textbox', named('How your notes are organized'));
    await waitFor(() => expect(session.app.settings.organisation).toMatch(/^- inbox\/ holds/));
    expect(field).toHaveValue(session.app.settings.organisation);
    await session.save({ language: 'de' });
    await keys.click(await screen.findByRole('button', named('Vorlage entfernen')));
    await waitFor(() => expect(session.app.settings.organisation).toBe(''));
    await keys.click(screen.getByRole('button', named('Vorlage einfügen')));
    await waitFor(() => expect(session.app.settings.organisation).toMatch(/^- In inbox\/ steht/));
    await session.save({ language: 'system' });
  });

  it('is never written over', async () => {
    await open('search', 'Beds are in Garden/.');
    expect(screen.queryByTestId('organization-default')).toBeNull();
  });
});
