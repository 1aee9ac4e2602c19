/** Formats days and times as the user's language writes them; times are milliseconds since 1970. */
import { m } from '../../messages/messages';
import { region } from './language.svelte';

/** "Today", "Yesterday", or the date. */
export function formatDay(at: number, now = new Date()): string {
  const day = new Date(at);
  if (day.toDateString() === now.toDateString()) return m.day_today();
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (day.toDateString() === yesterday.toDateString()) return m.day_yesterday();
  return new Intl.DateTimeFormat(region(), { dateStyle: 'full' }).format(day);
}

/** The date alone. */
export function formatDate(at: number): string {
  return new Intl.DateTimeFormat(region(), { dateStyle: 'long' }).format(at);
}

/** The month: "November 2026". */
export function formatMonth(at: number): string {
  return new Intl.DateTimeFormat(region(), { month: 'long', year: 'numeric' }).format(at);
}

/** The day and the time. */
export function formatTime(at: number): string {
  return new Intl.DateTimeFormat(region(), { dateStyle: 'long', timeStyle: 'short' }).format(at);
}

/** The time alone. */
export function formatClock(at: number): string {
  return new Intl.DateTimeFormat(region(), { timeStyle: 'short' }).format(at);
}
