/** Writes into a box as typing does: the user can undo it, and the box tells of it. An empty `text` deletes.
 * The caret stands behind it. */
export function replaceText(
  box: HTMLTextAreaElement,
  from: number,
  to: number,
  text: string,
): void {
  box.focus();
  box.setSelectionRange(from, to);
  // There is no other way that keeps the steps which the engine undoes.
  const does = text === '' ? 'delete' : 'insertText';
  if (document.execCommand?.(does, false, text)) return;
  box.setRangeText(text, from, to, 'end');
  box.dispatchEvent(new InputEvent('input', { bubbles: true }));
}
