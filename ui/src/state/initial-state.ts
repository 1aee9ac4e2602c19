/** The values before the first snapshot. Nothing of them is shown. */
import type { ProviderStatus, Settings } from '../ipc/bindings';

export const unknownProvider: ProviderStatus = {
  hasModel: false,
  label: '',
  model: '',
  models: [],
  keySource: null,
  envServer: null,
  keys: 0,
  trouble: null,
  keyring: null,
  offer: null,
};

export const unknownSettings: Settings = {
  mode: 'review',
  provider: 'automatic',
  model: '',
  baseUrl: '',
  resume: 'ask',
  keyPolicy: 'failover',
  localOfferAnswered: false,
  models: [],
  parameters: [],
  organisation: '',
  spending: { turnCents: 50, monthCents: 2000, paused: false },
  compaction: { model: '', prompt: '' },
  titles: 'model',
  theme: 'system',
  language: 'system',
  hub: { enabled: false, address: '', name: '', description: '', notes: [], inboxNote: '' },
  private: { never: [], local: [], endpointIsLocal: false },
  followLinks: false,
  extraRoots: [],
  desktop: { notifications: true, onClose: 'ask' },
};
