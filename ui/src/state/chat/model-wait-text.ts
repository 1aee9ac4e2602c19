/** Texts for the steps of a local model before its answer: loading and reading. */
import type { ModelWait } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { formatNumber } from '../../shared/i18n/format-number';

export function modelWaitText(wait: ModelWait): string {
  if (wait.type === 'loading') return m.working_loading();
  // An estimate: more than two digits would promise too much.
  return m.working_reading({ tokens: formatNumber(Math.ceil(wait.tokens / 100) * 100) });
}
