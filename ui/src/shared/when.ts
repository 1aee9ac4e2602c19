/** Days and times as the user's language writes them; moments are milliseconds since 1970. */
import { m } from '../messages/messages';

/** "Today", "Yesterday", or the date. */
export function dayWords(at: number, now = new Date()): string {
  const day = new Date(at);
  if (day.toDateString() === now.toDateString()) return m.day_today();
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (day.toDateString() === yesterday.toDateString()) return m.day_yesterday();
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'full' }).format(day);
}

/** The date alone. */
export function dateWords(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'long' }).format(at);
}

/** The day and the time. */
export function timeWords(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' }).format(at);
}

/** The time alone. */
export function clockWords(at: number): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: 'short' }).format(at);
}
