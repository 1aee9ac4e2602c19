/** Formats numbers as the user's language writes them. */
import { region } from './language.svelte';

/** A number as the user's language writes it: "12,000". */
export function formatNumber(number: number): string {
  return new Intl.NumberFormat(region()).format(number);
}
