/** The engine's own reaction to a drop, and its menus, must not take the place of
 * the page: a file that is dropped would be shown instead of it, and a link can be opened from the menu. */

/** Leaves a drag alone that something of the page takes, and text that is dropped where one writes. */
export function preventDropNavigation(event: DragEvent): void {
  if (event.defaultPrevented) return;
  const holdsFiles = event.dataTransfer?.types.includes('Files') ?? true;
  if (!holdsFiles && isWritten(event.target)) return;
  event.preventDefault();
  if (event.dataTransfer) event.dataTransfer.dropEffect = 'none';
}

/** The engine's menu is for text alone: where one writes, and for what is selected. */
export function preventEngineMenu(event: MouseEvent): void {
  const { target } = event;
  if (isWritten(target)) return;
  const leads = target instanceof Element && target.closest('a, img, [data-image]') !== null;
  if (leads || (getSelection()?.isCollapsed ?? true)) event.preventDefault();
}

function isWritten(target: EventTarget | null): boolean {
  const field = target instanceof Element ? target.closest('input, textarea') : null;
  return field !== null && !field.matches(':disabled, :read-only');
}
