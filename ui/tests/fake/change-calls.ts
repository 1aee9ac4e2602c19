/** The calls about applied changes: their list, undo and redo, and the stored history. */
import type {
  AppliedHunks,
  AppliedPage,
  AppSnapshot,
  ChangedSince,
  ChangeSetId,
  DeletedHistory,
  EffectId,
  HistoryAge,
  HistoryStats,
  ListApplied,
  NotePath,
  UndoConflict,
  UndoResult,
  UndoScope,
  UndoTarget,
} from '../../src/ipc/bindings';
import { FakeCalls } from './calls';
import { type AppliedStory, FakeChanges } from './changes';
import type { FakeConversations } from './conversations';
import type { FakeQueries } from './queries';

export abstract class FakeChangeCalls extends FakeCalls {
  protected readonly changes: FakeChanges;
  /** The number of the last event. */
  protected seq: number;

  constructor(
    queries: FakeQueries,
    conversations: FakeConversations,
    snapshot: AppSnapshot,
    applied: AppliedStory,
  ) {
    super(queries, conversations, snapshot);
    this.seq = snapshot.seq;
    this.changes = new FakeChanges(applied, (set) => this.tell({ type: 'applied_changed', set }));
  }

  async listApplied(request: ListApplied): Promise<AppliedPage> {
    await this.called('listApplied', request);
    return this.changes.page(request, this.seq);
  }

  async diffSince(effect: EffectId): Promise<ChangedSince> {
    await this.called('diffSince', effect);
    return this.changes.since(effect);
  }

  async appliedHunks(effect: EffectId): Promise<AppliedHunks> {
    await this.called('appliedHunks', effect);
    return {
      effect,
      hunks: this.changes.hunks(effect),
      undone: this.changes.undoneHunks(effect),
    };
  }

  async undo(scope: UndoScope): Promise<UndoResult> {
    await this.called('undo', scope);
    return this.changes.undo(scope);
  }

  async redo(scope: UndoScope): Promise<UndoResult> {
    await this.called('redo', scope);
    return this.changes.redo(scope);
  }

  async reapply(effect: EffectId): Promise<UndoResult> {
    await this.called('reapply', effect);
    return this.changes.reapply(effect);
  }

  async undoInNote(identified: UndoTarget): Promise<UndoResult> {
    await this.called('undoInNote', identified);
    return this.changes.complete(identified);
  }

  async resolveConflict(conflict: UndoConflict): Promise<UndoResult> {
    await this.called('resolveConflict', conflict);
    return this.changes.complete(conflict);
  }

  async history(): Promise<HistoryStats> {
    await this.called('history');
    return this.changes.kept();
  }

  async deleteHistory(age: HistoryAge): Promise<DeletedHistory> {
    await this.called('deleteHistory', age);
    const deleted = this.changes.deleteHistory(age);
    this.tell({ type: 'history_changed' });
    return deleted;
  }

  protected repaired(paths: readonly NotePath[], kind: 'create' | 'replace'): ChangeSetId {
    return this.changes.repair(paths, kind);
  }
}
