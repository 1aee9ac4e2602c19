/** A story: the state of the application when the window opens, and the events that follow. */
import type {
  AppEvent,
  AppSnapshot,
  ConversationView,
  KeyTrial,
  NotePath,
  UserError,
} from '../../src/ipc/bindings';
import type { Host } from '../../src/ipc/host';
import type { SpentStory } from './calls';
import type { AppliedStory } from './changes';
import type { QueryStory } from './queries';

export interface Story {
  readonly snapshot: AppSnapshot;
  readonly views: readonly ConversationView[];
  readonly notes: Readonly<Record<NotePath, string>>;
  readonly applied?: AppliedStory;
  readonly queries?: QueryStory;
  /** The changes of the last answer. */
  readonly old?: {
    readonly changed: number;
    readonly waiting: number;
    readonly earlier?: boolean;
  };
  /** The events that it is sent once it is open. */
  readonly then?: readonly AppEvent[];
  /** The refusals of calls, each used once. */
  readonly refusals?: Partial<Record<keyof Host, UserError>>;
  /** A note that goes as soon as it is shown. */
  readonly removedOnceShown?: NotePath;
  /** The draft that a model writes for the hub; `null` writes for ever. */
  readonly described?: string | null;
  readonly spent?: SpentStory;
  /** The outcome of trying a key, any key; by default it works. */
  readonly tried?: KeyTrial;
}
