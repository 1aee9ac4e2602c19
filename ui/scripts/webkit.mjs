/**
 * Ten screens (tests/screens/list.ts) in WebKit, the engine of the window, light and dark: looked through by
 * axe, for the marks of broken links and for faint boxes: `npm run webkit -- [NAME…]`. Then the sections of the
 * settings, for hints and boxes that look unlike the others, the first run, for steps that move and for a way on that
 * is out of sight, and the last editor of a review, for buttons under the bar.
 * Faults that must be found are shown to it in the end. The last line is the sum.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { createServer } from 'vite';

import { faintBoxes, misplacedHints, odd, outOfSight, places } from './look.mjs';
import { inWebKit, noWebKit } from './webkit-driver.mjs';

const looked = [
  ...['chat', 'commands', 'question', 'review', 'palette', 'search'],
  ...['search-broken', 'note-marks', 'settings', 'first-run'],
];
/** Seen only for what looks unlike the others: every section of the settings, and rows of them that change. */
const sections = [
  ...['data', 'answering', 'private', 'spending', 'hub', 'general', 'history'],
  ...['key', 'tested', 'description'],
].map((name) => `settings-${name}`);
/** Seen only for steps of the first run that move, and for ways to answer and fields that do. */
const still = ['first-run-2', 'first-run-key', 'first-run-refused'];
/** Low windows, and the part of a screen whose buttons are in sight there at once. */
const lowWindows = {
  /** The way on from the first run. */
  'first-run-key': {
    within: '.go',
    sizes: [
      [1180, 760],
      [1280, 763],
    ],
  },
  /** The last editor of a review, above the bar. */
  'review-editing-last': {
    within: '.editor',
    sizes: [
      [1180, 480],
      [1180, 560],
      [760, 480],
      [480, 560],
    ],
  },
};
/** The screen whose editor is scrolled under the bar, which must be found. */
const covered = 'review-editing-last';
/** The screen on which a broken link must be seen, so that the search for its mark finds one. */
const marked = 'note-marks';
/** The screens on which a box or a switch must be seen, so that a faint one would be found. */
const boxed = ['search', 'settings-general'];

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

const withAxe = `() => { ${axe} }`;

/** As WebDriver names keys. */
const keys = { Control: '\uE009', Shift: '\uE008', Enter: '\uE007', ArrowDown: '\uE015' };

/** Accessibility problems below `within`, by axe's rules in the theme at hand. */
const barriers = `async (within) => {
  const { violations, passes } = await globalThis.axe.run(within ?? document);
  const found = violations.map(({ id, nodes }) => id + ' at ' + nodes.map(({ target }) => target).join(' · '));
  const isSeen = [...violations, ...passes].some(({ id }) => id === 'color-contrast');
  return isSeen ? found : [...found, 'no contrast could be seen'];
}`;

/** How many links are broken, and those that have no mark for it. */
const marks = `() => {
  const links = [...document.querySelectorAll('[data-broken], [data-undrawn]:not(a)')];
  const bare = links.filter((link) => {
    const { textDecorationLine, textDecorationStyle } = getComputedStyle(link);
    return textDecorationLine !== 'underline' || textDecorationStyle !== 'dashed';
  });
  return { seen: links.length, bare: bare.map((link) => link.textContent.trim()) };
}`;

/** How many boxes and switches there are. */
const boxCount = "() => document.querySelectorAll('[type=checkbox]').length";

/** How many buttons a part of the page has. */
const buttonCount = '(within) => document.querySelectorAll(`${within} button`).length';

/** Scrolls the review until the buttons of its editor begin where the bar below does. */
const scrollEditorUnderBar = `() => {
  const [bar, buttons] = ['.apply', '.editor .btns'].map((css) =>
    document.querySelector(css).getBoundingClientRect());
  document.querySelector('.editor').closest('.scroll').scrollTop -= bar.top - buttons.top;
}`;

/** Where the ways to answer stand in the first run, and the fields for the way that is chosen. */
const answering = `() => {
  const scrolled = document.querySelector('.first')?.scrollTop ?? 0;
  const placeOf = (element) => {
    const { left, top, height } = element.getBoundingClientRect();
    return [left, top + scrolled, height].map((length) => Math.round(length)).join('+');
  };
  const placesOf = (css) => [...document.querySelectorAll(css)].map(placeOf).join(' ');
  return {
    'a way to answer': placesOf('.step [role=radiogroup] label'),
    'a field': placesOf('.step .details :is(select, input)'),
  };
}`;

/** Makes the first step of the first run higher, so that those below move. */
const growStep = "() => { document.querySelector('.step').style.paddingBlockEnd = '99px'; }";

/** Moves a part of a step, and no step. */
const shiftPart = "(css) => { document.querySelector(css).style.translate = '0 9px'; }";

/** Shows a low contrast, a mark, hints, a box and a button, all of which must be found. */
const control = `() => {
  const shown = document.createElement('main');
  shown.id = 'control';
  shown.style = 'position: fixed; inset: 0; z-index: 9999; background: #fff';
  shown.innerHTML = '<p style="color: #bbb; background: #fff">faint</p>' +
    '<a data-broken style="text-decoration: underline dashed #777">refused</a>' +
    '<p class="line" style="display: flex"><b>control</b><span class="note">aside</span></p>' +
    '<input id="plain" type="checkbox" aria-label="plain" style="appearance: auto">' +
    '<div class="line"><div class="value" style="display: flex"><span class="note">narrow</span></div></div>' +
    '<div class="line"><div class="value"><button>covered</button>' +
    '<span class="note" style="display: block; margin-block-start: -20px">over</span></div></div>' +
    '<button style="position: fixed; inset-block-start: 110vh">below</button>' +
    '<style>[id^=box-] { appearance: none; background: #395ca9; box-shadow: inset 0 0 0 2px #908d88 }' +
    '[id^=box-]::after { content: ""; background: #fff } #box-mark::after { background: #456 }</style>' +
    '<p style="background: #1a1b1d"><input id="box-edge" type="checkbox" aria-label="faint edge" ' +
    'style="box-shadow: inset 0 0 0 2px #222"></p><p style="background: #fff">' +
    '<input id="box-mark" type="checkbox" aria-label="faint mark">' +
    '<input id="box-clear" type="checkbox" aria-label="clear"></p>';
  document.body.append(shown);
}`;

/** Asks for German, and returns the words of the settings before. A script of the page imports the module it has. */
const askForGerman = `() => {
  const before = document.querySelector('[data-testid=settings]').textContent;
  const script = document.createElement('script');
  script.type = 'module';
  script.textContent = "import { setLanguage } from '/src/shared/i18n/language.svelte.ts';" +
    "setLanguage('de');";
  document.head.append(script);
  return before;
}`;

/** Whether the settings say in German what they said before. */
const isGerman = `(before) => document.documentElement.lang === 'de' &&
  document.querySelector('[data-testid=settings]').textContent !== before`;

async function settled(page, find, place) {
  for (let tries = 0; tries < 300; tries += 1) {
    const found = await page.run(find, place);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing is at ${JSON.stringify(place)}`);
}

/** Does one step, when what it is about is there. */
async function act(page, find, step) {
  if (step.do === 'press') {
    await page.press(step.keys.split('+').map((key) => keys[key] ?? key));
  } else if (step.do === 'write') await page.type(step.text);
  else if (step.do === 'click') await page.click(await settled(page, find, step.place));
  else if (step.do === 'see') await settled(page, find, step.place);
  else if (step.do === 'show') {
    await settled(page, find, step.place);
    await page.run(`(place) => (${find})(place).scrollIntoView({ block: 'nearest' })`, step.place);
  } else if (step.do !== 'drawer') throw new Error(`“${step.do}” is not done in WebKit yet`);
}

/** Goes where a screen is. */
async function reach(page, { base, begun, find }, screen) {
  await page.show(`${base}?fake=${screen.story}`);
  await settled(page, find, begun);
  for (const step of screen.steps) await act(page, find, step);
}

/** The faults of a screen, in both themes. */
async function look(page, studio, screen) {
  await reach(page, studio, screen);
  await page.run(withAxe);
  // Colours on their way are no colours.
  await page.run(`() => { const still = document.createElement('style');
    still.textContent = '*, *::before, *::after { transition: none !important; animation: none !important }';
    document.head.append(still); }`);
  const failures = [];
  for (const theme of ['light', 'dark']) {
    await page.run('(theme) => { document.documentElement.dataset.theme = theme; }', theme);
    const found = [...(await page.run(barriers)), ...(await page.run(String(faintBoxes)))];
    failures.push(...found.map((fault) => `${theme}: ${fault}`));
  }
  failures.push(...(await page.run(String(odd))), ...(await missingBoxes(page, screen)));
  const { seen, bare } = await page.run(marks);
  failures.push(...bare.map((words) => `“${words}” is broken and has no mark`));
  if (screen.name === marked && seen === 0) failures.push('no link is broken here');
  return failures.map((failure) => `${screen.name} ${failure}`);
}

/** That a screen has no box, where there must be one. */
async function missingBoxes(page, { name }) {
  return boxed.includes(name) && (await page.run(boxCount)) === 0 ? ['no box is here'] : [];
}

/** Settings that are drawn unlike the others, over another or faintly: in both themes, and in German. */
async function lookAtSection(page, studio, screen) {
  await reach(page, studio, screen);
  const failures = await missingBoxes(page, screen);
  for (const theme of ['light', 'dark']) {
    await page.run('(theme) => { document.documentElement.dataset.theme = theme; }', theme);
    failures.push(...(await lookAtRows(page)).map((found) => `${theme}: ${found}`));
  }
  await settled(page, isGerman, await page.run(askForGerman));
  failures.push(...(await lookAtRows(page)).map((found) => `German: ${found}`));
  return failures.map((failure) => `${screen.name} ${failure}`);
}

/** The faults of the rows as they are drawn now. */
async function lookAtRows(page) {
  const found = [];
  for (const check of [odd, misplacedHints, faintBoxes]) {
    found.push(...(await page.run(String(check))));
  }
  return found;
}

/** Steps of the first run, ways to answer and their fields that moved during this work. */
async function movedSteps(page, work) {
  const placesNow = async () => ({
    'a step': await page.run(String(places)),
    ...(await page.run(answering)),
  });
  const before = await placesNow();
  await work();
  const after = await placesNow();
  if (before['a step'] === '') return ['no step is there'];
  // Fields come and go with the way that they are for.
  const kinds = Object.keys(before).filter((kind) => before[kind] !== '' && after[kind] !== '');
  return kinds
    .filter((kind) => after[kind] !== before[kind])
    .map((kind) => `${kind} moved from ${before[kind]} to ${after[kind]}`);
}

/** Parts of the first run that moved at a step of the user. */
async function lookAtSteps(page, studio, screen) {
  await reach(page, studio, screen);
  const failures = [];
  for (const step of screen.still) {
    const moved = await movedSteps(page, () => act(page, studio.find, step));
    const at = JSON.stringify(step);
    failures.push(...moved.map((failure) => `${screen.name}: ${failure} at ${at}`));
  }
  return failures;
}

/** Whether steps, ways and fields are found that move. The first two steps of the screen show the fields. */
async function isMovedStepCaught(page, studio, screen) {
  await reach(page, studio, screen);
  for (const step of screen.still.slice(0, 2)) await act(page, studio.find, step);
  const idle = await movedSteps(page, () => undefined);
  const moved = [];
  for (const css of ['[role=radiogroup]', '.details']) {
    moved.push(...(await movedSteps(page, () => page.run(shiftPart, `.step ${css}`))));
  }
  moved.push(...(await movedSteps(page, () => page.run(growStep))));
  const kinds = ['a step', 'a way to answer', 'a field'];
  const isFound = (kind) => moved.some((failure) => failure.startsWith(`${kind} moved`));
  return idle.length === 0 && kinds.every(isFound);
}

/** Buttons that are out of sight in a low window. */
async function lookAtLowWindows(page, studio, screen) {
  const failures = [];
  const { within, sizes } = lowWindows[screen.name];
  for (const [width, height] of sizes) {
    await page.resize(width, height);
    await reach(page, studio, screen);
    const found = await page.run(String(outOfSight), within);
    if ((await page.run(buttonCount, within)) === 0) found.push(`no button is in ${within}`);
    failures.push(...found.map((failure) => `${screen.name} at ${width} × ${height}: ${failure}`));
  }
  return failures;
}

/** Whether the buttons of an editor are found that are scrolled under the bar, in each low window. */
async function isCoveredEditorCaught(page, studio, screen) {
  const { within, sizes } = lowWindows[screen.name];
  for (const [width, height] of sizes) {
    await page.resize(width, height);
    await reach(page, studio, screen);
    await page.run(scrollEditorUnderBar);
    const found = await page.run(String(outOfSight), within);
    if (found.length === 0 || found.length < (await page.run(buttonCount, within))) return false;
  }
  return true;
}

/** Whether what must be found is found. */
async function isCaught(page) {
  await page.run("() => { document.documentElement.dataset.theme = 'light'; }");
  await page.run(withAxe);
  await page.run(control);
  const { bare } = await page.run(marks);
  const found = await page.run(barriers, '#control');
  const unlike = (await page.run(String(odd))).join();
  const hints = (await page.run(String(misplacedHints))).join();
  const hidden = await page.run(String(outOfSight), '#control');
  const faint = (await page.run(String(faintBoxes))).join();
  return [
    bare.includes('refused'),
    found.some((words) => words.startsWith('color-contrast')),
    unlike.includes('“aside” is beside') && unlike.includes('plain has another look'),
    hints.includes('“narrow” is narrower') && hints.includes('“over” is drawn over “covered”'),
    hidden.some((words) => words.includes('“below”')),
    faint.includes('the edge of box-edge') && faint.includes('the mark of box-mark'),
    !['mark of box-edge', 'edge of box-mark', 'box-clear'].some((box) => faint.includes(box)),
  ].every(Boolean);
}

const only = [...sections, ...still, covered];
const names = process.argv.slice(2);
if (noWebKit) {
  console.log(`SKIP webkit: ${noWebKit}`);
  console.log('webkit screens=0 failed=0 skipped=1');
} else {
  const server = await createServer({
    logLevel: 'error',
    server: { watch: null, hmr: false, port: 0, strictPort: false },
  });
  await server.listen();
  const { screens } = await server.ssrLoadModule('/tests/screens/list.ts');
  const { begun, find } = await server.ssrLoadModule('/tests/screens/steps.ts');
  const studio = { base: server.resolvedUrls.local[0], begun, find: String(find) };
  const named = (list) =>
    list
      .filter((name) => names.length === 0 || names.includes(name))
      .map((name) => screens.find((screen) => screen.name === name));
  const others = names.filter((name) => !looked.includes(name) && !only.includes(name));
  const rounds = [
    [look, named([...looked, ...others])],
    [lookAtSection, named(sections)],
    [lookAtSteps, named(still)],
    [lookAtLowWindows, named(Object.keys(lowWindows))],
  ];
  const shown = [...new Set(rounds.flatMap(([, all]) => all))];
  const failures = [];
  const caught = await inWebKit(async (page) => {
    for (const [lookAt, all] of rounds) {
      for (const screen of all) failures.push(...(await lookAt(page, studio, screen)));
    }
    const [editing, first] = [covered, still.at(-1)].map((wanted) =>
      screens.find(({ name }) => name === wanted),
    );
    return [
      await isCoveredEditorCaught(page, studio, editing),
      await isMovedStepCaught(page, studio, first),
      // It shows its faults in the page that is there then.
      await isCaught(page),
    ].every(Boolean);
  });
  await server.close();
  for (const failure of failures) console.error(`FAIL webkit ${failure}`);
  const told = caught ? 'caught' : 'missed';
  console.log(`webkit screens=${shown.length} failed=${failures.length} control=${told}`);
  process.exitCode = failures.length === 0 && caught ? 0 : 1;
}
