/** Texts about a model: its context window and its price. */
import type { ModelInfo } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { formatNumber } from '../../shared/i18n/format-number';

/** How much it reads and what it costs; nothing where that is not known. Its name is shown beside it. */
export function modelText({ window, price }: ModelInfo): string {
  if (window === null) return '';
  if (price === null) return m.model_tokens({ window: formatNumber(window) });
  return m.model_tokens_prices({
    window: formatNumber(window),
    input: formatNumber(price.input / 1000),
    output: formatNumber(price.output / 1000),
  });
}

/** Its context window; says so where that is not known. */
export function contextWindowText({ window }: ModelInfo): string {
  return window === null
    ? m.model_window_unknown()
    : m.model_window({ window: formatNumber(window) });
}

/** Its price; says so where that is not known. */
export function priceText({ price }: ModelInfo): string {
  if (price === null) return m.model_price_unknown();
  return m.model_price({
    input: formatNumber(price.input / 1000),
    output: formatNumber(price.output / 1000),
  });
}
