/** A renderer that cleans nothing: a trial of hostile HTML must find it out. */

/** A text of a model, as if it were the page's own. */
export function renderUnsafely(target: Element, text: string): () => void {
  target.innerHTML = text;
  return () => target.replaceChildren();
}
