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

/** Boxes and switches that are hard to see: the edge on what is behind it, or the mark on its fill, below 3 to 1. */
export function faintBoxes() {
  const least = 3;
  return [...document.querySelectorAll('[type=checkbox]')].flatMap((box) => {
    const isChecked = box.checked;
    box.checked = false;
    const edge = contrast(colorIn(getComputedStyle(box).boxShadow), colorBehind(box));
    box.checked = true;
    const fill = colorIn(getComputedStyle(box).backgroundColor);
    const mark = contrast(colorIn(getComputedStyle(box, '::after').backgroundColor), fill);
    box.checked = isChecked;
    const faint = Object.entries({ edge, mark }).filter(([, found]) => found < least);
    return faint.map(
      ([part, found]) => `the ${part} of ${nameOf(box)} has a contrast of ${found.toFixed(2)}`,
    );
  });

  function nameOf(box) {
    return box.id || (box.labels[0]?.textContent.trim() ?? '');
  }

  /** Red, green and blue of the first colour in a value; `null` where there is none, or one that is seen through. */
  function colorIn(value) {
    const [, inner = ''] = /rgba?\(([^)]*)\)/.exec(value) ?? [];
    const [red, green, blue, opacity = 1] = (inner.match(/[\d.]+/g) ?? []).map(Number);
    return blue === undefined || opacity < 1 ? null : [red, green, blue];
  }

  function colorBehind(element) {
    const around = element.parentElement;
    if (!around) return null;
    return colorIn(getComputedStyle(around).backgroundColor) ?? colorBehind(around);
  }

  /** By the definition of WCAG; nothing is seen where a colour is missing. */
  function contrast(one, other) {
    if (one === null || other === null) return 1;
    const [first, second] = [luminance(one), luminance(other)];
    return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05);
  }

  function luminance(parts) {
    const [red, green, blue] = parts.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }
}

/** Hints in Settings that do not have the full width, or are drawn over a control or another hint. */
export function misplacedHints() {
  const kinds = 'button, input, select, textarea, label, summary, .name, .note';
  // The parts of a closed group have a place, and nobody sees them there.
  const seen = (selector) =>
    [...document.querySelectorAll(selector)].filter((one) => {
      const group = one.closest('details:not([open])');
      return group === null || one.closest('summary')?.parentElement === group;
    });
  const others = seen(`.line :is(${kinds})`).filter(
    // A list that is open lies over what is below.
    (other) => !other.closest('[role=listbox], dialog'),
  );
  return seen('.line .value > .note').flatMap((hint) => {
    const words = `the hint “${hint.textContent.trim()}”`;
    const text = document.createRange();
    text.selectNodeContents(hint);
    const drawn = text.getBoundingClientRect();
    const covered = others.filter(
      (other) => other !== hint && overlaps(drawn, other.getBoundingClientRect()),
    );
    const { width } = hint.getBoundingClientRect();
    const isNarrow = width > 0 && width + 1 < hint.parentElement.clientWidth;
    return [
      ...(isNarrow ? [`${words} is narrower than its place`] : []),
      ...covered.map((other) => `${words} is drawn over “${nameOf(other)}”`),
    ];
  });

  function overlaps(one, other) {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    return across > 1 && down > 1;
  }

  function nameOf(element) {
    return element.getAttribute('aria-label') ?? (element.textContent.trim() || element.id);
  }
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
