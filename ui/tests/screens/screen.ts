/** How a screen of the window is listed. */
import type { Step } from './steps';

/** Beside the wide one and the one at 200 %, which every screen is seen in. */
type Size = 'narrow' | 'small' | 'phone';

export interface Screen {
  readonly name: string;
  readonly story: string;
  readonly steps: readonly Step[];
  readonly sizes: readonly Size[];
  /** The order of a screen reader, as patterns of “role name”. */
  readonly reads: readonly string[];
  /** After these no part that is marked as a step of the first run has moved. */
  readonly still: readonly Step[];
}

/** The same screen, read in this order where it is wide. */
export function read(by: Screen, ...reads: readonly string[]): Screen {
  return { ...by, reads };
}

/** The same screen: nothing moves in it when these are done. */
export function keeps(by: Screen, ...still: readonly Step[]): Screen {
  return { ...by, still };
}

export function screen(
  name: string,
  story: string,
  steps: readonly Step[] = [],
  ...sizes: readonly Size[]
): Screen {
  return { name, story, steps, sizes, reads: [], still: [] };
}
