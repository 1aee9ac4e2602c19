/** Texts about cost and tokens: the amount, or that the price is not known. */
import type { ModelCost } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { formatMoney } from '../../shared/i18n/format-money';
import { formatNumber } from '../../shared/i18n/format-number';

export function costText({ cost, requests, unpriced }: ModelCost): string {
  if (requests === 0) return formatMoney(0);
  if (unpriced === requests) return m.spent_unpriced();
  if (unpriced > 0) return m.spent_partly({ cost: formatMoney(cost) });
  return formatMoney(cost);
}

export function tokenText({ requests, usage }: ModelCost): string {
  return m.spent_tokens({
    count: requests,
    sent: formatNumber(usage.input + usage.cacheRead + usage.cacheWrite),
    cached: formatNumber(usage.cacheRead),
    received: formatNumber(usage.output),
  });
}

export function totalCost(all: readonly ModelCost[]): ModelCost {
  const sum: ModelCost = {
    requests: 0,
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    cost: 0,
    unpriced: 0,
  };
  for (const { requests, usage, cost, unpriced } of all) {
    sum.requests += requests;
    sum.usage.input += usage.input;
    sum.usage.output += usage.output;
    sum.usage.cacheRead += usage.cacheRead;
    sum.usage.cacheWrite += usage.cacheWrite;
    sum.cost += cost;
    sum.unpriced += unpriced;
  }
  return sum;
}
