/** Ends the editing of the field that has the focus, so that its text counts as changed: the engine says nothing
 * of a field that is removed while it is edited. */
export function commitFocusedField(): void {
  const field = document.activeElement;
  if (field instanceof HTMLElement && field.matches('input, textarea, select')) field.blur();
}
