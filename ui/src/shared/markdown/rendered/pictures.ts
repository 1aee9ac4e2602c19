/** Inserts the pictures of the vault into rendered Markdown, which only names them. */
import { fileName } from '../picture-reference';

/** The pictures that a text may show. Another object of them: what was not there may be by now. */
export interface Pictures {
  /** Where the page finds what the text names. */
  readonly addressOf: (target: string) => string;
  /** Opens it in another program. */
  readonly open: (target: string) => void;
}

/** What is said of them, in the language that is spoken. */
interface PictureWords {
  readonly open: string;
  /** It is not there, or nothing that is shown. */
  readonly undrawn: string;
  readonly web: string;
}

/** No path is longer. */
const longest = 1_024;
const size = /^(\d{1,4})(?:x(\d{1,4}))?$/;

/**
 * Puts a picture in each place below `root` that names one. What cannot be shown is its words, with a
 * mark, and is tried again when this is called again; then all are spoken of in these words.
 */
export function drawPictures(root: HTMLElement, pictures: Pictures, words: PictureWords): void {
  for (const place of root.querySelectorAll<HTMLElement>('[data-picture], [data-undrawn]')) {
    const button = place.querySelector('button');
    if (button) button.title = words.open;
    else if (place.dataset['undrawn'] !== undefined) tryAgain(place, pictures, words);
    else if (!place.querySelector('img')) draw(place, pictures, words);
  }
}

function draw(place: HTMLElement, pictures: Pictures, words: PictureWords): void {
  const target = place.dataset['picture'] ?? '';
  const called = place.textContent.trim() || fileName(target);
  const picture = pictureIn(place, called);
  // Far from what is read it can wait. This has to be said before where it is.
  picture.loading = 'lazy';
  picture.addEventListener('load', () => (place.dataset['drawn'] = ''));
  picture.addEventListener('error', () => {
    place.dataset['undrawn'] = '';
    place.title = words.undrawn;
    place.textContent = called;
  });
  show(place, picture, pictures, words);
  picture.src = pictures.addressOf(target.slice(0, longest));
}

/** The words stay until there is a picture. */
function tryAgain(place: HTMLElement, pictures: Pictures, words: PictureWords): void {
  place.title = place.dataset['web'] === undefined ? words.undrawn : words.web;
  const target = place.dataset['picture'];
  if (target === undefined) return;
  const picture = pictureIn(place, place.textContent);
  picture.addEventListener('load', () => {
    delete place.dataset['undrawn'];
    place.removeAttribute('title');
    place.dataset['drawn'] = '';
    show(place, picture, pictures, words);
  });
  picture.src = pictures.addressOf(target.slice(0, longest));
}

function pictureIn(place: HTMLElement, called: string): HTMLImageElement {
  const picture = document.createElement('img');
  picture.alt = called;
  picture.decoding = 'async';
  const [, width, height] = size.exec(place.dataset['size'] ?? '') ?? [];
  if (width) picture.width = Number(width);
  if (height) picture.height = Number(height);
  return picture;
}

/** Inside a link it is part of the link, else it is opened by itself. */
function show(
  place: HTMLElement,
  picture: HTMLImageElement,
  pictures: Pictures,
  words: PictureWords,
): void {
  if (place.closest('a')) {
    place.replaceChildren(picture);
    return;
  }
  const button = document.createElement('button');
  button.type = 'button';
  button.title = words.open;
  button.append(picture);
  button.addEventListener('click', () => pictures.open(place.dataset['picture'] ?? ''));
  place.replaceChildren(button);
}
