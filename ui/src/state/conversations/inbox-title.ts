/** The titles of the hub's conversations, one for each day. */
import type { Weekday } from '../../ipc/bindings';
import { m } from '../../messages/messages';

const titles: Readonly<Record<Weekday, () => string>> = {
  monday: () => m.inbox_monday(),
  tuesday: () => m.inbox_tuesday(),
  wednesday: () => m.inbox_wednesday(),
  thursday: () => m.inbox_thursday(),
  friday: () => m.inbox_friday(),
  saturday: () => m.inbox_saturday(),
  sunday: () => m.inbox_sunday(),
};

/** The title of the conversation of a day, in the current language. */
export function inboxTitle(day: Weekday): string {
  return titles[day]();
}
