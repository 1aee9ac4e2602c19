/** The views of the main column. */
import type { ChangeSetId, ConversationId } from '../ipc/bindings';
import type { SettingsRoute } from './settings/settings-route';

/** The content of the main column. */
export type Route =
  | { readonly name: 'chat' }
  | { readonly name: 'review' }
  | { readonly name: 'search' }
  | {
      readonly name: 'changes';
      /** Those of one conversation; `null` for all. */
      readonly conversation: ConversationId | null;
      /** The set to begin with. */
      readonly at: ChangeSetId | null;
    }
  /** Without a section the list of them leads on, where the window has no room for both. */
  | ({ readonly name: 'settings' } & SettingsRoute);
