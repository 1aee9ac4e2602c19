/** Formats amounts of money as the user's language writes them. */
import { region } from './language.svelte';

/** From billionths of a US dollar: "$0.0042". */
export function formatMoney(billionths: number): string {
  const dollars = billionths / 1e9;
  const digits = dollars > 0 && dollars < 0.1 ? 4 : 2;
  return new Intl.NumberFormat(region(), {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(dollars);
}
