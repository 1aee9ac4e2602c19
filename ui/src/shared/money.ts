/** Amounts of money as the user's language writes them, from billionths of a US dollar. */
export function moneyWords(billionths: number): string {
  const dollars = billionths / 1e9;
  const digits = dollars > 0 && dollars < 0.1 ? 4 : 2;
  return new Intl.NumberFormat(undefined, {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  }).format(dollars);
}
