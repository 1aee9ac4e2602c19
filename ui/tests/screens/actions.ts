/** Does the steps of a screen in the page of a test. */
import { waitFor } from '@testing-library/svelte';
import { type UserEvent } from '@testing-library/user-event';

import { find, type Step } from './steps';

/** Each step begins when what it is about is there. */
export async function act(keys: UserEvent, steps: readonly Step[]): Promise<void> {
  for (const step of steps) await once(keys, step);
}

async function once(keys: UserEvent, step: Step): Promise<void> {
  switch (step.do) {
    case 'press':
      return keys.keyboard(chord(step.keys));
    case 'write':
      return keys.keyboard(step.text.replaceAll(/[{[]/g, '$&$&'));
    case 'drawer':
      // Without a layout nothing is narrow.
      return undefined;
    default: {
      const look = (): Element => {
        const found = find(step.place);
        if (!found) throw new Error(`nothing is at ${JSON.stringify(step.place)}`);
        return found;
      };
      const element = await waitFor(look, { timeout: 20_000 });
      if (step.do === 'click') await keys.click(element);
      if (step.do === 'menu') await keys.pointer({ keys: '[MouseRight]', target: element });
    }
  }
}

/** `Control+p` as the keyboard of the tests is told it. */
function chord(keys: string): string {
  const held = keys.split('+');
  const last = held.pop() ?? '';
  const down = held.map((key) => `{${key}>}`).join('');
  const up = held
    .toReversed()
    .map((key) => `{/${key}}`)
    .join('');
  return `${down}{${last}}${up}`;
}
