/** The actions on an applied change, as the view provides them. */
import type {
  ConversationId,
  EffectId,
  NotePath,
  UndoCandidate,
  UndoConflict,
  UndoScope,
} from '../../ipc/bindings';

export interface ChangeActions {
  undo(scope: UndoScope): void;
  redo(scope: UndoScope): void;
  reapply(effect: EffectId): void;
  /** Asks for the effect of a change. */
  open(effect: EffectId): void;
  /** Asks for the changes in the note since, as it is now; whether they can be told. */
  lookSince(effect: EffectId): Promise<boolean>;
  /** Leaves the note as it is. */
  keep(effect: EffectId): void;
  /** Takes the text that the request of the conflict wants in these places. */
  settle(conflict: UndoConflict): void;
  /** Completes the request in the note that the user says the change is about. */
  undoIn(conflict: UndoConflict, note: UndoCandidate): void;
  showNote(path: NotePath): void;
  showConversation(conversation: ConversationId): void;
}
