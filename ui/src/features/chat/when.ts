/** Days and times as the user's language writes them. */
import type { Timestamp } from '../../ipc/bindings';
import { m } from '../../messages/messages';

/** "Today", "Yesterday", or the date. */
export function dayWords(at: Timestamp, now = new Date()): string {
  const day = new Date(at);
  if (day.toDateString() === now.toDateString()) return m.day_today();
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (day.toDateString() === yesterday.toDateString()) return m.day_yesterday();
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'full' }).format(day);
}

export function timeWords(at: Timestamp): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'short' }).format(at);
}
