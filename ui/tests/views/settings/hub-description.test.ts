import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import App from '../../../src/views/App.svelte';
import { FakeHost } from '../../fake/host';
import { stories } from '../../fake/stories';

/** The settings of the hub in a window over a story. */
async function open(story: string) {
  const told = stories[story]?.();
  if (!told) throw new Error(`no story ${story}`);
  const host = new FakeHost(told);
  const session = new Session(host);
  render(App, { session });
  await session.start();
  session.openSettings('hub');
  const hub = await screen.findByRole('region', { name: 'Hub' });
  return { host, session, hub: within(hub), keys: userEvent.setup() };
}

const named = (name: string) => ({ name });
const write = named('Draft with the model');
const proposal =
  'Keeps recipes and the minutes of meetings. Ask it what to cook or what was decided.';

describe('the description that a hub reads', () => {
  it('is proposed by the model, and becomes the hub’s when the user keeps it', async () => {
    const { host, session, hub, keys } = await open('regenerated');
    const field = hub.getByRole('textbox', named('Description'));
    const before = session.app.settings.hub.description;
    expect(field).toHaveValue(before);
    await keys.click(hub.getByRole('button', write));
    await waitFor(() => expect(field).toHaveValue(proposal));
    expect(host.asked('writeDescription')).toEqual([session.app.settings.organisation]);
    expect(hub.getByTestId('description-news')).toHaveTextContent(/^Draft from the model/);
    await keys.type(field, ' Or both.');
    await keys.tab();
    expect(host.asked('saveSettings')).toEqual([]);
    expect(session.app.settings.hub.description).toBe(before);

    host.refusals.set('saveSettings', { code: 'other', message: 'The disk is full.' });
    await keys.click(hub.getByRole('button', named('Use this')));
    await waitFor(() => expect(session.app.problems).toHaveLength(1));
    expect(field).toHaveValue(`${proposal} Or both.`);
    await keys.click(hub.getByRole('button', named('Use this')));
    await waitFor(() => expect(field).toHaveFocus());
    expect(session.app.settings.hub.description).toBe(`${proposal} Or both.`);
    expect(field).toHaveValue(`${proposal} Or both.`);
    expect(hub.queryByRole('button', named('Use this'))).toBeNull();
  });

  it('takes no text that the proposal would replace', async () => {
    const { host, hub, keys } = await open('regenerated');
    let arrive = (): void => undefined;
    const describe = host.writeDescription.bind(host);
    host.writeDescription = async (organisation) => {
      await new Promise<void>((resolve) => (arrive = resolve));
      return await describe(organisation);
    };
    const field = hub.getByRole('textbox', named('Description'));
    await keys.clear(field);
    await keys.type(field, 'Mine.');
    await keys.click(hub.getByRole('button', write));
    await keys.type(field, ' And more');
    expect(field).toHaveValue('Mine.');
    arrive();
    await waitFor(() => expect(field).toHaveValue(proposal));
    // Once it is there one goes on writing.
    await keys.type(field, ' And more');
    expect(field).toHaveValue(`${proposal} And more`);
  });

  it('stays what it was when the proposal is discarded', async () => {
    const { host, session, hub, keys } = await open('regenerated');
    await keys.click(hub.getByRole('button', write));
    await keys.click(await hub.findByRole('button', named('Discard')));
    const field = hub.getByRole('textbox', named('Description'));
    expect(field).toHaveValue(session.app.settings.hub.description);
    await waitFor(() => expect(field).toHaveFocus());
    expect(host.asked('saveSettings')).toEqual([]);
  });

  it('says that it is being written, and can be stopped', async () => {
    const { host, session, hub, keys } = await open('trouble');
    await keys.click(hub.getByRole('button', write));
    expect(hub.getByTestId('description-news')).toHaveTextContent('Writing a draft…');
    await keys.click(hub.getByRole('button', named('Stop')));
    await waitFor(() => expect(hub.getByRole('button', write)).toHaveFocus());
    expect(host.asked('stopDescription')).toHaveLength(1);
    expect(hub.getByTestId('description-news')).toHaveTextContent(/^$/);
    const { description } = session.app.settings.hub;
    expect(hub.getByRole('textbox', named('Description'))).toHaveValue(description);
  });

  it('says why nothing was written', async () => {
    const { host, hub, keys } = await open('regenerated');
    host.refusals.set('writeDescription', { code: 'spending', message: 'Models are paused.' });
    await keys.click(hub.getByRole('button', write));
    await waitFor(() =>
      expect(hub.getByTestId('description-news')).toHaveTextContent('Models are paused.'),
    );
    await keys.click(hub.getByRole('button', write));
    expect(await hub.findByRole('button', named('Use this'))).toBeVisible();
  });

  it('leads to what is missing where nothing can be written', async () => {
    const none = await open('commands');
    expect(none.hub.queryByRole('button', write)).toBeNull();
    await none.keys.click(none.hub.getByRole('button', named('Connect a model')));
    expect(none.session.place).toMatchObject({ name: 'settings', section: 'answering' });
  });

  it('wants to know how the notes are organized, and is written from there too', async () => {
    const { host, session, hub, keys } = await open('search');
    expect(hub.queryByRole('button', write)).toBeNull();
    await keys.click(hub.getByRole('button', named('Describe')));
    const field = screen.getByRole('textbox', named('How your notes are organized'));
    await waitFor(() => expect(field).toHaveFocus());
    await keys.type(field, 'Beds are in Garden/.');
    await keys.tab();
    await keys.click(
      await screen.findByRole('button', named('Draft the hub description from this')),
    );
    expect(host.asked('writeDescription')).toEqual(['Beds are in Garden/.']);
    expect(session.place).toMatchObject({ section: 'hub', field: 'description' });
    const description = await screen.findByRole('textbox', named('Description'));
    await waitFor(() => expect(description).toHaveFocus());
    expect(description).toHaveValue(proposal);
  });
});
