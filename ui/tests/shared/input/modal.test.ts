/** Where a press begins and ends decides whether a dialog closes. */
import { expect, test, vi } from 'vitest';

import { modal } from '../../../src/shared/input/modal';

/** A dialog with a field; a press from one of them to the other. */
function shown(): { dialog: HTMLDialogElement; field: HTMLElement; closed: () => number } {
  const dialog = document.createElement('dialog');
  const field = dialog.appendChild(document.createElement('input'));
  document.body.append(dialog);
  const onclose = vi.fn();
  modal(onclose)(dialog);
  return { dialog, field, closed: () => onclose.mock.calls.length };
}

/** As an engine tells it: a press that ends elsewhere is a click on what holds both places. */
function press(from: HTMLElement, to: HTMLElement, holder: HTMLElement): void {
  const tell = (type: string, at: HTMLElement): boolean =>
    at.dispatchEvent(new MouseEvent(type, { bubbles: true }));
  tell('mousedown', from);
  tell('mouseup', to);
  tell('click', holder);
}

test('a press beside it closes it', () => {
  const { dialog, closed } = shown();
  press(dialog, dialog, dialog);
  expect(closed()).toBe(1);
});

test('a press within it does not', () => {
  const { field, closed } = shown();
  press(field, field, field);
  expect(closed()).toBe(0);
});

test('text that is selected to beyond its edge does not', () => {
  const { dialog, field, closed } = shown();
  press(field, dialog, dialog);
  expect(closed()).toBe(0);
});

test('a press beside it closes it after one that was begun within it', () => {
  const { dialog, field, closed } = shown();
  press(field, dialog, dialog);
  press(dialog, dialog, dialog);
  expect(closed()).toBe(1);
});

test('a key that is held from before answers nothing in it', () => {
  const { dialog } = shown();
  const button = dialog.appendChild(document.createElement('button'));
  const press = (repeat: boolean): boolean => {
    const event = new KeyboardEvent('keydown', {
      ...{ key: 'Enter', repeat },
      ...{ bubbles: true, cancelable: true },
    });
    return button.dispatchEvent(event);
  };
  expect(press(true)).toBe(false);
  expect(press(false)).toBe(true);
});
