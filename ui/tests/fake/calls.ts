/** The calls of the window as the application in memory takes them: noted, or refused; what it looks up,
 * how conversations are kept, and the desktop around it. */
import type {
  AppEvent,
  AppSnapshot,
  AutostartMode,
  ChangeSetId,
  ConversationCounts,
  ConversationId,
  ConversationPage,
  CountedValues,
  DesktopState,
  KeyStorage,
  KeyTrial,
  MentionTarget,
  LineMatches,
  LinkRepairs,
  ListConversations,
  ModelInfo,
  MonthCost,
  NameMatch,
  NameMatches,
  NoteAttribution,
  NoteCriterion,
  NoteLinks,
  NoteList,
  NoteOpener,
  NotePath,
  OnClose,
  PrivateNote,
  ProviderStatus,
  ProviderTestResult,
  RepairedLink,
  Settings,
  SettingsChoice,
  TextSearch,
  TokenStatus,
  TurnCost,
  Unlocking,
  VaultId,
} from '../../src/ipc/bindings';
import type { Host } from '../../src/ipc/host';
import type { FakeConversations } from './conversations';
import type { FakeQueries } from './queries';
import { providerWithKey } from './view';

/** Every call, in order, as the window made it. */
type Call = readonly [name: keyof Host, argument?: unknown];

/** The result of testing the provider. */
interface Tested {
  readonly listed: readonly ModelInfo[];
  readonly result: ProviderTestResult;
}

/** The cost of models: by the turns of one conversation, and by month. */
export interface SpentStory {
  readonly turns: readonly TurnCost[];
  readonly months: readonly MonthCost[];
}

export abstract class FakeCalls {
  readonly calls: Call[] = [];
  /** The refusal of the next call of this name. */
  readonly refusals = new Map<string, unknown>();
  /** The vault that the window asks about. */
  vaultAsked: VaultId | null = null;
  /** The vault that each message was sent to. */
  readonly sentTo: (VaultId | null)[] = [];
  /** The one who chose each note that was shown. */
  readonly openedBy: NoteOpener[] = [];
  protected readonly queries: FakeQueries;
  /** Where the token for the hub comes from. */
  hubToken: TokenStatus = { source: null, keyring: null };
  /** The outcome of asking the user to unlock the keyring, which has a key in it. */
  unlocked: () => Promise<Unlocking> = () => Promise.resolve('unlocked');
  #unlockingStopped = (): void => undefined;
  /** The draft that a model writes for the hub; `null` writes for ever. */
  described: string | null =
    'Keeps recipes and the minutes of meetings. Ask it what to cook or what was decided.';
  #stopped = (): void => undefined;
  /** The outcome of trying a key. */
  tried: (key: string) => Promise<KeyTrial> = () => Promise.resolve({ type: 'works' });
  /** The result of testing the provider: the models that it lists, and whether it answers. */
  tested: () => Promise<Tested> = () =>
    Promise.resolve({ listed: [], result: { ok: true, message: 'Connected.', unlisted: null } });
  #provider: ProviderStatus;
  spent: SpentStory = { turns: [], months: [] };
  /** How the desktop around the window stands. */
  desktop: DesktopState = { inTray: true, atLogin: 'stays_off' };

  protected readonly conversations: FakeConversations;

  readonly #settings: Settings;

  constructor(
    queries: FakeQueries,
    conversations: FakeConversations,
    { settings, provider }: AppSnapshot,
  ) {
    this.queries = queries;
    this.conversations = conversations;
    this.#settings = settings;
    this.#provider = provider;
  }

  /** Tells the window, as the application would. */
  abstract tell(...events: AppEvent[]): void;

  shows(vault: VaultId | null): void {
    this.vaultAsked = vault;
  }

  /** Another program writes a note. */
  write(path: NotePath, text: string): void {
    this.queries.write(path, text);
  }

  /** The arguments of the window's calls of this name. */
  asked(name: keyof Host): unknown[] {
    return this.calls.filter(([called]) => called === name).map(([, argument]) => argument);
  }

  async listConversations(request: ListConversations): Promise<ConversationPage> {
    await this.called('listConversations', request);
    return this.conversations.list(request);
  }

  async deleteConversation(conversation: ConversationId): Promise<void> {
    await this.called('deleteConversation', conversation);
    this.conversations.delete(conversation);
    this.tell({ type: 'conversation_gone', conversation });
  }

  async restoreConversation(conversation: ConversationId): Promise<void> {
    await this.called('restoreConversation', conversation);
    this.tell({
      type: 'conversation_changed',
      conversation: this.conversations.restore(conversation),
    });
  }

  async conversationCounts(): Promise<ConversationCounts> {
    await this.called('conversationCounts');
    return this.conversations.kept();
  }

  async deleteConversations(): Promise<ConversationCounts> {
    await this.called('deleteConversations');
    for (const conversation of this.conversations.deleteAll()) {
      this.tell({ type: 'conversation_gone', conversation });
    }
    return this.conversations.kept();
  }

  async restoreConversations(): Promise<ConversationPage> {
    await this.called('restoreConversations');
    this.conversations.restoreAll();
    return this.conversations.list({ archiveState: 'open', before: null });
  }

  async recoverSettings(choice: SettingsChoice): Promise<void> {
    await this.called('recoverSettings', choice);
    this.tell({ type: 'settings_changed', settings: this.#settings, trouble: null });
  }

  async stopJob(work: number): Promise<void> {
    await this.called('stopJob', work);
  }

  async selectInNote(path: NotePath, selected: string, heading: string | null): Promise<void> {
    await this.called('selectInNote', { path, selected, heading });
  }

  async closeNote(): Promise<void> {
    await this.called('closeNote');
  }

  async openInEditor(path: NotePath): Promise<void> {
    await this.called('openInEditor', path);
  }

  async openInObsidian(path: NotePath): Promise<void> {
    await this.called('openInObsidian', path);
  }

  imageUrl(link: string): string {
    return this.queries.image(link);
  }

  async openImage(link: string, note: NotePath | null): Promise<void> {
    await this.called('openImage', { link, note });
  }

  async findNames(query: string): Promise<NameMatches> {
    await this.called('findNames', query);
    return this.queries.names(query);
  }

  async notesNamed(fileName: string): Promise<NameMatch[]> {
    await this.called('notesNamed', fileName);
    return this.queries.notesNamed(fileName);
  }

  async searchText(request: TextSearch): Promise<LineMatches> {
    await this.called('searchText', request);
    return this.queries.lines(request);
  }

  async noteLinks(path: NotePath): Promise<NoteLinks | null> {
    await this.called('noteLinks', path);
    return this.queries.links(path);
  }

  async privateNote(path: NotePath): Promise<PrivateNote | null> {
    await this.called('privateNote', path);
    return this.queries.privateNote(path);
  }

  async privateMentions(mentions: readonly MentionTarget[]): Promise<(PrivateNote | null)[]> {
    await this.called('privateMentions', mentions);
    return mentions.map((mention) => this.queries.privateMention(mention));
  }

  async assistantLines(path: NotePath): Promise<NoteAttribution> {
    await this.called('assistantLines', path);
    return this.queries.marks(path);
  }

  async unresolvedLinks(query: string): Promise<CountedValues | null> {
    await this.called('unresolvedLinks', query);
    return this.queries.words('broken', query);
  }

  /** Notes are changed so that a broken link leads somewhere. */
  protected abstract repaired(paths: readonly NotePath[], kind: 'create' | 'replace'): ChangeSetId;

  async linkRepairs(link: string): Promise<LinkRepairs | null> {
    await this.called('linkRepairs', link);
    return this.queries.repairs(link);
  }

  async createLinkedNote(link: string): Promise<RepairedLink> {
    await this.called('createLinkedNote', link);
    const note = `${link}.md`;
    this.write(note, '');
    this.queries.repair(link);
    return { note, changeSet: this.repaired([note], 'create'), rewritten: [], left: [] };
  }

  async replaceBrokenLink(link: string, note: NotePath): Promise<RepairedLink> {
    await this.called('replaceBrokenLink', { link, note });
    const rewritten = this.queries.having()?.notes ?? [];
    this.queries.repair(link);
    return { note, changeSet: this.repaired(rewritten, 'replace'), rewritten, left: [] };
  }

  async brokenLinks(links: string[]): Promise<string[] | null> {
    await this.called('brokenLinks', links);
    return this.queries.brokenAmong(links);
  }

  async listTags(query: string): Promise<CountedValues | null> {
    await this.called('listTags', query);
    return this.queries.words('tags', query);
  }

  async listProperties(query: string): Promise<CountedValues | null> {
    await this.called('listProperties', query);
    return this.queries.words('properties', query);
  }

  async propertyValues(property: string, query: string): Promise<CountedValues | null> {
    await this.called('propertyValues', { property, query });
    return this.queries.words('values', query);
  }

  async notesMatching(having: NoteCriterion): Promise<NoteList | null> {
    await this.called('notesMatching', having);
    return this.queries.having();
  }

  async listTasks(query: string): Promise<LineMatches | null> {
    await this.called('listTasks', query);
    return this.queries.tasks(query);
  }

  async tryKey(key: string): Promise<KeyTrial> {
    await this.called('tryKey', key);
    return this.tried(key);
  }

  async setKey(key: string, place: KeyStorage): Promise<void> {
    await this.called('setKey', { key, place });
    this.#provider = providerWithKey(key, place);
    this.tell({ type: 'provider_changed', provider: this.#provider });
  }

  async testProvider(): Promise<ProviderTestResult> {
    await this.called('testProvider');
    const { listed, result } = await this.tested();
    if (listed.length > 0) {
      const provider = { ...this.#provider, models: [...listed] };
      this.tell({ type: 'provider_changed', provider });
    }
    return result;
  }

  async setWindowFocus(conversation: ConversationId | null): Promise<void> {
    await this.called('setWindowFocus', conversation);
  }

  async hubTokenSource(): Promise<TokenStatus> {
    await this.called('hubTokenSource');
    return this.hubToken;
  }

  async setHubToken(token: string, place: KeyStorage): Promise<void> {
    await this.called('setHubToken', { token, place });
    this.hubToken = { source: token ? place : null, keyring: null };
  }

  async unlockKeyring(): Promise<Unlocking> {
    await this.called('unlockKeyring');
    const stopped = new Promise<Unlocking>((resolve) => {
      this.#unlockingStopped = () => resolve('dismissed');
    });
    const outcome = await Promise.race([this.unlocked(), stopped]);
    if (outcome === 'unlocked') {
      this.#provider = providerWithKey('sk-kept', 'keyring');
      this.hubToken = { ...this.hubToken, keyring: null };
      this.tell({ type: 'provider_changed', provider: this.#provider });
    }
    return outcome;
  }

  async stopUnlocking(): Promise<void> {
    await this.called('stopUnlocking');
    this.#unlockingStopped();
  }

  async writeDescription(organisation: string): Promise<string | null> {
    await this.called('writeDescription', organisation);
    const { described } = this;
    return described ?? new Promise((resolve) => (this.#stopped = () => resolve(null)));
  }

  async stopDescription(): Promise<void> {
    await this.called('stopDescription');
    this.#stopped();
  }

  async desktopState(): Promise<DesktopState> {
    await this.called('desktopState');
    return this.desktop;
  }

  async setAutostart(atLogin: AutostartMode): Promise<DesktopState> {
    await this.called('setAutostart', atLogin);
    this.desktop = { ...this.desktop, atLogin };
    return this.desktop;
  }

  async answerCloseRequest(answer: OnClose): Promise<void> {
    await this.called('answerCloseRequest', answer);
  }

  protected async called(name: keyof Host, argument?: unknown): Promise<void> {
    this.calls.push(argument === undefined ? [name] : [name, argument]);
    const refusal = this.refusals.get(name);
    this.refusals.delete(name);
    if (refusal !== undefined) throw refusal;
  }

  async conversationCosts(conversation: ConversationId): Promise<TurnCost[]> {
    await this.called('conversationCosts', conversation);
    return [...this.spent.turns];
  }

  async monthlyCosts(): Promise<MonthCost[]> {
    await this.called('monthlyCosts');
    return [...this.spent.months];
  }
}
