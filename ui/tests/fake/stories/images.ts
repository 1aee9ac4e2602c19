/** A note with images and an answer with one; some of them cannot be shown. */
import { nothingKnown } from '../queries';
import type { Story } from '../story';
import { answered, healthy, row, userMessage, view } from './base';

/** In memory a drawing stands for the image. */
const beds = drawing(`
  <rect width="480" height="300" rx="10" fill="#f4efe2"/>
  <path d="M125 0V300" stroke="#ddd3bd" stroke-width="26"/>
  <rect x="28" y="28" width="72" height="60" rx="3" fill="#b7b0a4"/>
  <circle cx="76" cy="160" r="34" fill="#7fa66a"/>
  <g stroke="#8a7f6a" stroke-width="2">
    <rect x="150" y="40" width="120" height="220" rx="6" fill="#c9a27a"/>
    <rect x="285" y="40" width="80" height="220" rx="6" fill="#bf9870"/>
    <rect x="380" y="40" width="75" height="220" rx="6" fill="#c4a07c"/>
  </g>
  <g stroke-width="16" stroke-linecap="round">
    <path d="M170 62V240M210 62V240M250 62V240" stroke="#6f9a5b" stroke-dasharray="0 26"/>
    <path d="M305 62V240M345 62V240" stroke="#8fb36b" stroke-dasharray="0 20"/>
    <path d="M398 62V240M418 62V240M438 62V240" stroke="#d98b4a" stroke-dasharray="0 22"/>
  </g>`);

const allotment = [
  '# Allotment',
  '',
  'Plot 27, the one with the crooked gate. This is how it stands in June:',
  '',
  '![[Beds.png|The beds, seen from the north]]',
  '',
  '- [ ] Draw the bee corner, beside the shed ![the shed|48x30](img/Beds.png)',
  '- [ ] Label everything',
  '',
  '![[Beds.png|160]]',
  '',
  'The plan of 2019 is ![[Plot.svg|a drawing]], the lease is ![[Lease 2019.pdf]], and a photo of the plum tree was ![the plum tree in flower](img/plum.jpg). The map hangs ![at the gate](https://example.org/map.png).',
].join('\n');

export function images(): Story {
  const conversation = row('beds', 'What grows where');
  const items = [
    userMessage('p1', 'Where did I put the onions this year?'),
    answered(
      'p2',
      'In bed 3, behind the carrots. It is the one on the right:\n\n![The beds](Beds.png)\n\nThe plan stands in [[Allotment]].',
    ),
  ];
  return {
    snapshot: healthy([conversation]),
    views: [view(conversation, items)],
    notes: { 'Allotment.md': allotment },
    queries: { ...nothingKnown, images: { 'Beds.png': beds } },
  };
}

function drawing(shapes: string): string {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="300">${shapes}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
