/** The view that is in front of the user, and the ways between the views. */
import type { ChangeSetId, ConversationId } from '../ipc/bindings';
import { commitFocusedField } from '../shared/input/commit-field';
import type { Route } from './route';
import type { SearchKind } from './search/search.svelte';
import type { SettingsSection, SettingsTarget } from './settings/settings-route';
import { Stores } from './stores';

export class Navigation extends Stores {
  place = $state.raw<Route>({ name: 'chat' });
  /** The section of the settings that is shown, or was shown last. */
  settingsRead = $state<SettingsSection>('vault');

  openSettings(section: SettingsSection | null = null, field?: SettingsTarget['field']): void {
    if (this.place.name !== 'settings') {
      this.lookAtSettings();
      this.settingsRead = 'vault';
    }
    this.go({ name: 'settings', section, ...(field && { field }) });
    if (section) this.settingsRead = section;
  }

  /** Shows what is looked for; what was looked for before is still there. */
  openSearch(kind: SearchKind | null = null): void {
    this.go({ name: 'search' });
    this.switcher.close();
    this.undo.dismiss();
    if (kind === null || kind === this.search.kind) void this.search.again();
    else void this.search.show(kind);
  }

  openReview(): void {
    if (this.app.chat?.review) this.go({ name: 'review' });
  }

  /** Shows what was applied: all of it, or what one conversation led to. */
  openChanges(conversation: ConversationId | null = null, at: ChangeSetId | null = null): void {
    this.go({ name: 'changes', conversation, at });
    this.undo.dismiss();
    if (conversation !== null) void this.undo.listOf(conversation);
    else if (this.app.changes.oldest === null) void this.undo.listMore();
  }

  /** Shows the change that a notice says needs the user. */
  openConflict(): void {
    const effect = this.undo.notice?.conflict ?? null;
    const set = effect === null ? null : this.app.changes.setOf(effect);
    this.openChanges(set?.conversation ?? null, set?.id ?? null);
  }

  backToChat(): void {
    this.go({ name: 'chat' });
  }

  /** A problem of one view is not shown in the next. */
  protected go(place: Route): void {
    // A rule that is being typed in the settings is saved although the page goes away.
    if (this.place.name === 'settings') commitFocusedField();
    if (place.name !== this.place.name) this.app.leaveView();
    this.place = place;
  }

  /** A review that was decided or deleted elsewhere gives way to the chat, which tells what it was refused with. */
  protected leaveMissingReview(): void {
    if (this.place.name === 'review' && !this.app.chat?.review) this.place = { name: 'chat' };
  }

  protected lookAtSettings(): void {
    void this.deleteAll.look();
    void this.history.look();
    void this.spending.look();
    void this.desktop.look();
    void this.hubToken.look();
  }

  /** The changes of a conversation of one vault give way to all changes of the next one. */
  protected override leaveVault(): void {
    super.leaveVault();
    if (this.place.name === 'changes')
      this.place = { name: 'changes', conversation: null, at: null };
  }
}
