/** What is known of a model, in words. */
import type { ModelInfo } from '../ipc/bindings';
import { m } from '../messages/messages';
import { numberWords } from '../shared/number';

/** How much it reads and what it costs; nothing where that is not known. Its name is shown beside it. */
export function modelWords({ window, price }: ModelInfo): string {
  if (window === null) return '';
  if (price === null) return m.model_tokens({ window: numberWords(window) });
  return m.model_tokens_prices({
    window: numberWords(window),
    input: numberWords(price.input / 1000),
    output: numberWords(price.output / 1000),
  });
}
