import { expect, it } from 'vitest';

import { Session } from '../../../src/state/session.svelte';
import { FakeHost } from '../../fake/host';
import { regenerated } from '../../fake/stories/chat/regenerate';

it('the question about old changes is asked in their conversation, wherever the user is by then', async () => {
  const host = new FakeHost({ ...regenerated(), old: { changed: 1, waiting: 0 } });
  const session = new Session(host);
  await session.start();
  const conversation = session.app.chat?.id;
  const message = session.app.chat?.lastMessage?.id ?? '';
  let answer = (): void => undefined;
  const regenerate = host.regenerate.bind(host);
  host.regenerate = async (request) => {
    await new Promise<void>((resolve) => (answer = resolve));
    return await regenerate(request);
  };
  for (const leave of [() => session.openNew(), () => undefined]) {
    const asked = session.turnActions.regenerate(message, null);
    await expect.poll(() => answer()).toBeUndefined();
    leave();
    answer();
    await asked;
    expect(session.turnActions.old).toMatchObject({ conversation, changed: 1 });
    await session.open(conversation ?? '');
    await session.turnActions.decideOld(null);
  }
});
