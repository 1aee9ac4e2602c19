/** Inserts the images of the vault into rendered Markdown, which only names them. */
import { fileName } from '../image-reference';

/** The images that a text may show. Another object of them: what was not there may be by now. */
export interface Images {
  /** Where the page finds what the text names. */
  readonly urlOf: (target: string) => string;
  /** Opens it in another program. */
  readonly open: (target: string) => void;
}

/** The texts about them, in the current language. */
interface ImageTexts {
  readonly open: string;
  /** It is not there, or nothing that is shown. */
  readonly undrawn: string;
  readonly web: string;
}

/** No path is longer. */
const longest = 1_024;
const size = /^(\d{1,4})(?:x(\d{1,4}))?$/;

/**
 * Puts an image in each place below `root` that names one. An image that cannot be shown is replaced by its
 * label, with a mark, and is tried again when this is called again; then all use these texts.
 */
export function drawImages(root: HTMLElement, images: Images, texts: ImageTexts): void {
  for (const place of root.querySelectorAll<HTMLElement>('[data-image], [data-undrawn]')) {
    const button = place.querySelector('button');
    if (button) button.title = texts.open;
    else if (place.dataset['undrawn'] !== undefined) tryAgain(place, images, texts);
    else if (!place.querySelector('img')) draw(place, images, texts);
  }
}

function draw(place: HTMLElement, images: Images, texts: ImageTexts): void {
  const target = place.dataset['image'] ?? '';
  const called = place.textContent.trim() || fileName(target);
  const image = imageIn(place, called);
  // Far from the visible part it can load later. This has to be set before the source.
  image.loading = 'lazy';
  image.addEventListener('load', () => (place.dataset['drawn'] = ''));
  image.addEventListener('error', () => {
    place.dataset['undrawn'] = '';
    place.title = texts.undrawn;
    place.textContent = called;
  });
  show(place, image, images, texts);
  image.src = images.urlOf(target.slice(0, longest));
}

/** The label stays until there is an image. */
function tryAgain(place: HTMLElement, images: Images, texts: ImageTexts): void {
  place.title = place.dataset['web'] === undefined ? texts.undrawn : texts.web;
  const target = place.dataset['image'];
  if (target === undefined) return;
  const image = imageIn(place, place.textContent);
  image.addEventListener('load', () => {
    delete place.dataset['undrawn'];
    place.removeAttribute('title');
    place.dataset['drawn'] = '';
    show(place, image, images, texts);
  });
  image.src = images.urlOf(target.slice(0, longest));
}

function imageIn(place: HTMLElement, called: string): HTMLImageElement {
  const image = document.createElement('img');
  image.alt = called;
  image.decoding = 'async';
  const [, width, height] = size.exec(place.dataset['size'] ?? '') ?? [];
  if (width) image.width = Number(width);
  if (height) image.height = Number(height);
  return image;
}

/** Inside a link it is part of the link, else it has a button of its own. */
function show(
  place: HTMLElement,
  image: HTMLImageElement,
  images: Images,
  texts: ImageTexts,
): void {
  if (place.closest('a')) {
    place.replaceChildren(image);
    return;
  }
  const button = document.createElement('button');
  button.type = 'button';
  button.title = texts.open;
  button.append(image);
  button.addEventListener('click', () => images.open(place.dataset['image'] ?? ''));
  place.replaceChildren(button);
}
