/** A number as the user's language writes it: "12,000". */
export function numberWords(number: number): string {
  return new Intl.NumberFormat().format(number);
}
