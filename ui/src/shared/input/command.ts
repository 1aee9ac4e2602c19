/** A command of the user: one row of the palette, one shortcut. */
import type { IconName } from '../components/icons';
import type { Keys } from './shortcut';

export interface Command {
  readonly id: string;
  /** The name of its action, in the current language. */
  readonly name: () => string;
  /** A warning to read before it is done now, if there is one. */
  readonly hint?: () => string | null;
  readonly icon: IconName;
  readonly keys?: Keys;
  /** Whether it can be done now; else its keys mean nothing and the palette does not offer it. */
  readonly applies: () => boolean;
  /** Whether its keys count while something is being typed. */
  readonly typing: 'counts' | 'is_text';
  readonly run: () => void;
}
