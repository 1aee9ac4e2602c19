/** A dialog is opened once, whatever listens for the focus that it takes. */
import { flushSync, untrack } from 'svelte';
import { expect, test, vi } from 'vitest';

import { modal } from '../../../src/shared/input/modal';

/** How often a dialog was opened, before and after a state changed that a field reads when the dialog takes its focus. */
function openings(open: (dialog: HTMLDialogElement) => void): [before: number, after: number] {
  let saved = $state('');
  const field = document.body.appendChild(document.createElement('textarea'));
  field.addEventListener('blur', () => void saved);
  field.focus();
  const dialog = document.body.appendChild(document.createElement('dialog'));
  dialog.append(document.createElement('input'));
  const shown = vi.spyOn(dialog, 'showModal');
  const stop = $effect.root(() => {
    $effect(() => open(dialog));
  });
  flushSync();
  const before = shown.mock.calls.length;
  untrack(() => (saved = 'Diary'));
  flushSync();
  stop();
  return [before, shown.mock.calls.length];
}

test('a dialog is not opened again when what was left to it is saved', () => {
  expect(openings((dialog) => void modal(() => undefined)(dialog))).toEqual([1, 1]);
});

test('the control: without care it is', () => {
  expect(openings((dialog) => dialog.showModal())).toEqual([1, 2]);
});
