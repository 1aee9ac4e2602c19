/** Formats sizes in bytes as the user's language writes them. */
import { region } from './language.svelte';

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;

/** "0 byte", "12.3 MB". */
export function formatSize(bytes: number): string {
  const steps = bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3);
  const step = Math.min(steps, units.length - 1);
  const digits = step === 0 ? 0 : 1;
  return new Intl.NumberFormat(region(), {
    style: 'unit',
    unit: units[step] ?? 'byte',
    maximumFractionDigits: digits,
  }).format(bytes / 1000 ** step);
}
