import { render, screen, within } from '@testing-library/svelte';
import { describe, expect, it } from 'vitest';

import { FakeHost } from '../../src/ipc/fake';
import { stories } from '../../src/ipc/stories';
import { Session } from '../../src/state/session.svelte';
import { settingsSections } from '../../src/state/settings-place';
import App from '../../src/views/App.svelte';

/** The window over a story. */
async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const host = new FakeHost(told);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  return { host, session };
}

/** The looks that a button may have. */
const looks = '.btn, .ib, .it, .opt';

describe('a button', () => {
  it.each(settingsSections)('looks like one in the settings of %s', async (section) => {
    const { session } = await open('anew');
    session.openSettings(section);
    const page = await screen.findByTestId('settings');
    const bare = within(page)
      .queryAllByRole('button')
      .filter((button) => !button.matches(looks));
    expect(bare.map((button) => button.textContent.trim())).toEqual([]);
  });

  it('looks like one in the first run', async () => {
    const { session } = await open('first-run');
    await session.openSample();
    const buttons = within(await screen.findByTestId('firstrun')).getAllByRole('button');
    const bare = buttons.filter((button) => !button.matches(looks));
    expect(bare.map((button) => button.textContent.trim())).toEqual([]);
  });
});
