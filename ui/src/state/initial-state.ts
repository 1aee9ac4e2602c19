/** The provider before the first snapshot. Nothing of it is shown. */
import type { ProviderStatus } from '../ipc/bindings';

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
