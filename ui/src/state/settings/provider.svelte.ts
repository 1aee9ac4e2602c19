/** The chosen provider, its API key, and the offer of a server on this computer. */
import type {
  KeyStorage,
  LocalServer,
  ProviderKind,
  ProviderTestResult,
  Settings,
  SettingsChoice,
} from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import { translateSentence } from '../../shared/i18n/translate-sentence';
import type { AppState } from '../app.svelte';
import { userError } from '../user-error';
import { Keyring } from './keyring.svelte';
import type { ModelListing } from './model-listing';
import type { SettingsQueue } from './settings-queue';

/** The outcome for a key, and why it was not stored: its provider `refused` it, or it is `untried` and kept if
 * the user says so, or the keyring did not take it and the user may choose the file `elsewhere`, or it
 * `failed` to be kept. */
export type KeyResult =
  | { readonly state: 'kept' }
  | {
      readonly state: 'refused' | 'untried' | 'elsewhere' | 'failed';
      readonly message: string;
    };

/** The reason why a key was not stored. A key that was to be removed has no field to show it beside. */
export function keyFailure(
  thrown: unknown,
  key: string,
  place: KeyStorage,
  app: AppState,
): KeyResult {
  const error = userError(thrown);
  if (!key) app.report(error);
  const isElsewhere = error.code === 'key' && place === 'keyring' && key !== '';
  return { state: isElsewhere ? 'elsewhere' : 'failed', message: error.message };
}

/** The progress of listing models, and the provider and server that they are of. */
interface ServerListing {
  readonly target: string;
  readonly listing: ModelListing;
}

export class Provider {
  /** The last listing; `null` before the first. */
  #lastListing = $state.raw<ServerListing | null>(null);
  /** Where a key may lie that cannot be looked for. */
  readonly keyring: Keyring;
  readonly #host: Host;
  readonly #app: AppState;
  readonly #settingsQueue: SettingsQueue;

  constructor(host: Host, app: AppState, settingsQueue: SettingsQueue) {
    this.#host = host;
    this.#app = app;
    this.#settingsQueue = settingsQueue;
    this.keyring = new Keyring(host, app);
  }

  /** How far the models of the chosen provider and server are known. */
  get listing(): ModelListing {
    const last = this.#lastListing;
    return last?.target === this.#target ? last.listing : { state: 'unasked' };
  }

  /** Has the provider try a key, and stores it if it works; until then the one before stays. */
  async keepKey(key: string, place: KeyStorage): Promise<KeyResult> {
    if (key === '') return this.setKey(key, place);
    const target = this.#target;
    try {
      await this.#settled(target);
      const trial = await this.#host.tryKey(key);
      await this.#settled(target);
      if (trial.type === 'works') return await this.setKey(key, place);
      const message = translateSentence(trial.message);
      return trial.type === 'refused'
        ? { state: 'refused', message: m.key_refused({ message }) }
        : { state: 'untried', message: m.key_untried({ message }) };
    } catch (thrown) {
      return { state: 'failed', message: userError(thrown).message };
    }
  }

  /** Stores a key, tried or not; an empty one removes it. */
  async setKey(key: string, place: KeyStorage): Promise<KeyResult> {
    const target = this.#target;
    try {
      await this.#settled(target);
      await this.#host.setKey(key, place);
      return { state: 'kept' };
    } catch (thrown) {
      return keyFailure(thrown, key, place, this.#app);
    }
  }

  /** With a model, or without one even where a key lies ready. */
  async with(way: 'key' | 'none'): Promise<void> {
    const keyLiesReady = this.#app.provider.keySource !== null;
    await this.by(way === 'none' && keyLiesReady ? 'commands' : 'automatic');
  }

  /** Chooses the provider. Another one has other models and another server URL. */
  async by(provider: ProviderKind): Promise<void> {
    this.#lastListing = null;
    await this.#save({ provider, model: '', baseUrl: '' });
  }

  /** Lets a model server on this computer answer from now on. */
  async takeOffer({ provider, address: baseUrl, model }: LocalServer): Promise<void> {
    await this.#save({ provider, model, baseUrl, localOfferAnswered: true });
  }

  /** It is not offered again. */
  async declineOffer(): Promise<void> {
    await this.#save({ localOfferAnswered: true });
  }

  /** Decides which settings count while their file does not: until then nobody answers. */
  async settle(choice: SettingsChoice): Promise<void> {
    await this.#app.attempt(() => this.#host.recoverSettings(choice));
  }

  /** Asks the provider for one word, and which models it has: those come with the feed. */
  async test(): Promise<ProviderTestResult> {
    const target = this.#target;
    const loading: ServerListing = { target, listing: { state: 'loading' } };
    this.#lastListing = loading;
    const result = await this.#tested();
    // Another provider may have been chosen meanwhile.
    if (this.#lastListing === loading) {
      const { unlisted } = result;
      const listing: ModelListing =
        unlisted === null ? { state: 'answered' } : { state: 'failed', message: unlisted };
      this.#lastListing = { target, listing };
    }
    return result;
  }

  /** The provider and the server that the user sees: a key is for these alone. */
  get #target(): string {
    const { provider, baseUrl } = this.#app.settings;
    return `${provider} ${baseUrl}`;
  }

  /** Resolves once the settings that the user sees are in force; throws where a key was for others. */
  async #settled(target: string): Promise<void> {
    await this.#settingsQueue.done;
    if (target !== this.#target) throw new Error(m.key_provider_changed());
  }

  async #tested(): Promise<ProviderTestResult> {
    try {
      await this.#settingsQueue.done;
      return await this.#host.testProvider();
    } catch (thrown) {
      const { message } = userError(thrown);
      return { ok: false, message, unlisted: message };
    }
  }

  async #save(change: Partial<Settings>): Promise<void> {
    await this.#app.attempt(() => this.#settingsQueue.save(change));
  }
}
