/** The stores of the window, one for each topic, and their dependencies on each other. */
import type { Host } from '../ipc/host';
import { AppState } from './app.svelte';
import { StoredHistory } from './changes/stored-history.svelte';
import { Undo } from './changes/undo.svelte';
import { AnswerLinks } from './chat/answer-links.svelte';
import { AnswerSaver } from './chat/save-answer.svelte';
import { TurnActions } from './chat/turn-actions.svelte';
import { Drafts } from './composer/drafts.svelte';
import { MentionSearch } from './composer/mention-search.svelte';
import { ConversationActions } from './conversations/conversation-actions.svelte';
import { ConversationSearch } from './conversations/conversation-search.svelte';
import { DeleteAll } from './conversations/delete-all.svelte';
import { HubDescription } from './hub/hub-description.svelte';
import { HubToken } from './hub/hub-token.svelte';
import { Jobs } from './jobs.svelte';
import { OpenNote } from './notes/open-note.svelte';
import { VaultImages } from './notes/images.svelte';
import { TrashedNotes } from './review/trashed-notes.svelte';
import { Palette } from './search/palette.svelte';
import { Search } from './search/search.svelte';
import { Switcher } from './search/switcher.svelte';
import { Desktop } from './settings/desktop.svelte';
import { Provider } from './settings/provider.svelte';
import { SettingsQueue } from './settings/settings-queue';
import { Spending } from './settings/spending.svelte';
import { TypedFields } from './settings/typed-fields.svelte';

export class Stores {
  readonly app = new AppState();
  readonly provider: Provider;
  readonly trashed: TrashedNotes;
  readonly undo: Undo;
  readonly turnActions: TurnActions;
  readonly history: StoredHistory;
  readonly deleteAll: DeleteAll;
  readonly hubDescription: HubDescription;
  readonly desktop: Desktop;
  readonly hubToken: HubToken;
  readonly spending: Spending;
  readonly typedFields = new TypedFields();
  readonly switcher: Switcher;
  readonly palette: Palette;
  readonly mentionSearch: MentionSearch;
  readonly drafts: Drafts;
  readonly search: Search;
  readonly conversationActions: ConversationActions;
  readonly conversationSearch: ConversationSearch;
  readonly jobs: Jobs;
  readonly answerSaver: AnswerSaver;
  readonly note: OpenNote;
  readonly answerLinks: AnswerLinks;
  readonly images: VaultImages;
  protected readonly settingsQueue: SettingsQueue;

  constructor(host: Host) {
    this.settingsQueue = new SettingsQueue(host, this.app);
    this.provider = new Provider(host, this.app, this.settingsQueue);
    this.trashed = new TrashedNotes(host);
    this.undo = new Undo(host, this.app);
    this.turnActions = new TurnActions(host, this.app, this.settingsQueue, this.undo);
    this.history = new StoredHistory(host, this.app);
    this.hubDescription = new HubDescription(host, this.app, this.settingsQueue);
    this.desktop = new Desktop(host, this.app);
    this.hubToken = new HubToken(host, this.app, this.provider.keyring);
    this.spending = new Spending(host, this.app);
    this.switcher = new Switcher(host, this.app);
    this.palette = new Palette(host, this.app);
    this.mentionSearch = new MentionSearch(host, this.app);
    this.drafts = new Drafts(host, this.app);
    this.conversationActions = new ConversationActions(host, this.app);
    this.search = new Search(host, this.app, this.conversationActions, this.undo);
    this.deleteAll = new DeleteAll(host, this.app, this.conversationActions);
    this.conversationSearch = new ConversationSearch(host, this.app);
    this.jobs = new Jobs(host, this.app, this.conversationActions);
    this.answerSaver = new AnswerSaver(host, this.app, this.conversationActions, this.undo);
    this.note = new OpenNote(host, this.app);
    this.answerLinks = new AnswerLinks(host, this.app);
    this.images = new VaultImages(host, this.app);
  }

  /** Nothing of one vault is left beside another one. */
  protected leaveVault(): void {
    this.search.clear();
    this.conversationSearch.clear();
    this.conversationActions.clear();
    this.switcher.close();
    this.palette.close();
    void this.mentionSearch.look(null);
    this.drafts.dropMentions();
    this.answerSaver.cancel();
    this.turnActions.old = null;
    this.trashed.clear();
    this.spending.months = null;
  }
}
