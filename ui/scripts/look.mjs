/** Functions that run in a page, in Chromium as in WebKit, and return what is wrong with it. */

/** Settings that are not drawn like the others: a hint beside its control, a box of the system. */
export function odd() {
  const found = [];
  for (const hint of document.querySelectorAll('.line .note')) {
    const { top } = hint.getBoundingClientRect();
    const others = [...hint.parentElement.children]
      .filter((other) => other !== hint)
      .map((other) => other.getBoundingClientRect());
    const beside = others.some(({ height, bottom }) => height > 0 && bottom > top + 1);
    if (beside) found.push(`the hint “${hint.textContent.trim()}” is beside its control`);
  }
  for (const box of document.querySelectorAll('[type=checkbox], [type=radio]')) {
    if (getComputedStyle(box).appearance !== 'none') found.push(`${box.id} has another look`);
  }
  return found;
}

/** Where the steps of the first run stand and how high each is. */
export function places() {
  const scrolled = document.querySelector('.first')?.scrollTop ?? 0;
  const steps = [...document.querySelectorAll('.step')].map((step) => {
    const { top, height } = step.getBoundingClientRect();
    return { top: top + scrolled, height };
  });
  return steps.map(({ top, height }) => `${Math.round(top)}+${Math.round(height)}`).join(' ');
}

/** Buttons in `within` that no click in the window as it is would reach. */
export function outOfSight(within) {
  return [...document.querySelectorAll(`${within} button`)].flatMap((button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    const ends = [top + 1, top + height - 1];
    const isSeen = ends.every((y) =>
      button.contains(document.elementFromPoint(left + width / 2, y)),
    );
    return isSeen ? [] : [`“${button.textContent.trim()}” is out of sight`];
  });
}
