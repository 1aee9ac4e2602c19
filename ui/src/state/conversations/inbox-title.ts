/** The titles of the hub's conversations: the application stores each with its weekday, in English. */
import { m } from '../../messages/messages';

const titles: ReadonlyMap<string, () => string> = new Map([
  ['Inbox, Monday', () => m.inbox_monday()],
  ['Inbox, Tuesday', () => m.inbox_tuesday()],
  ['Inbox, Wednesday', () => m.inbox_wednesday()],
  ['Inbox, Thursday', () => m.inbox_thursday()],
  ['Inbox, Friday', () => m.inbox_friday()],
  ['Inbox, Saturday', () => m.inbox_saturday()],
  ['Inbox, Sunday', () => m.inbox_sunday()],
]);

/** The title in the current language; another one than the application's own stays as it is. */
export function inboxTitle(title: string): string {
  return titles.get(title)?.() ?? title;
}
