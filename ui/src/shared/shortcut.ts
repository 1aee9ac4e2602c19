/** Keys pressed together, and what stands on them. */
import { m } from '../messages/messages';

/** Together with Ctrl, or with Command where that is the custom. */
export function hasCommand(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
}

/** Whether no modifier is held. */
export function isPlain(event: KeyboardEvent): boolean {
  return !event.ctrlKey && !event.metaKey && !event.altKey;
}

/** Whether typing goes into the element that has the focus. */
export function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || ['INPUT', 'TEXTAREA', 'SELECT'].includes(target.tagName))
  );
}

/** `Ctrl+Shift+F` as the keys are lettered where the language is spoken. */
export function keyWords(keys: string): string {
  const lettered: Record<string, () => string> = {
    Ctrl: m.key_ctrl,
    Shift: m.key_shift,
    Enter: m.key_enter,
    Esc: m.key_escape,
  };
  return keys
    .split('+')
    .map((key) => lettered[key]?.() ?? key)
    .join('+');
}
