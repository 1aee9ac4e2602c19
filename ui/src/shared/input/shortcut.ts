/** Parses shortcuts such as `Mod+Shift+K`, and matches them with keyboard events. */
import { m } from '../../messages/messages';

/** A key, behind what is held with it: `Mod+Shift+F`, `F2`, `?`. `Mod` is Ctrl, or Command. */
export type Keys = string;

/** A key that means something in one place of the window, with what it does there. */
export interface PlaceKey<Id extends string = string> {
  readonly id: Id;
  readonly keys: Keys;
  readonly name: () => string;
}

/** Whether these keys were pressed. Where Shift is needed to type a sign it does not count. */
export function matchesKeys(event: KeyboardEvent, keys: Keys): boolean {
  const key = keys.slice(keys.lastIndexOf('+', keys.length - 2) + 1);
  const held = keys.slice(0, keys.length - key.length).split('+');
  if (event.key.toLowerCase() !== key.toLowerCase() || event.altKey) return false;
  if ((event.ctrlKey || event.metaKey) !== held.includes('Mod')) return false;
  const isSign = key.length === 1 && !/\p{L}/u.test(key);
  return isSign || event.shiftKey === held.includes('Shift');
}

/** The keys as they are written on them, one after the other. */
export function keyCaps(keys: Keys): string[] {
  return keys.split('+').map((key) => caps()[key] ?? key);
}

/** The same in one piece: `Ctrl+Shift+F`. */
export function keysText(keys: Keys): string {
  return keyCaps(keys).join('+');
}

function caps(): Readonly<Record<string, string>> {
  return {
    Mod: m.key_ctrl(),
    Shift: m.key_shift(),
    Delete: m.key_delete(),
    Enter: '↵',
    Escape: m.key_escape(),
    ArrowUp: '↑',
    ArrowDown: '↓',
  };
}

/** Keys pressed together with Ctrl, or with Command where that is the custom. */
export function hasCommand(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
}

/** Whether no modifier is held. */
export function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}

/** Whether an input method is still at work on what is typed: its keys are its own. */
export function isComposing(event: KeyboardEvent): boolean {
  // 229 is how some engines report such a key.
  return event.isComposing || event.keyCode === 229;
}

/** Whether typing goes into the element that has the focus. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}
