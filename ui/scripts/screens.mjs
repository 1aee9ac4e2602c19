/**
 * Images of every screen (tests/screens/list.ts): wide, some narrow, all at 200 %, each light, dark, from right to left and
 * in German, each looked through by axe: `npm run screens -- DIR [NAME…]`.
 * Needs a Chromium; `CHROMIUM` names it when it is not at /usr/bin/chromium.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';
import { createServer } from 'vite';

import { faintBoxes, misplacedHints, odd, places } from './look.mjs';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** As in the window, no text becomes HTML but through the policies that it names. */
const configuration = new URL('../../src-tauri/tauri.conf.json', import.meta.url);
const trusted = JSON.parse(readFileSync(configuration, 'utf8'))
  .app.security.csp.split('; ')
  .filter((directive) => directive.includes('trusted-types'))
  .join('; ');
const viewports = {
  wide: { width: 1180, height: 760 },
  narrow: { width: 760, height: 900 },
  small: { width: 480, height: 760 },
  /** The wide one at 200 %. */
  zoomed: { width: 590, height: 380 },
  phone: { width: 360, height: 740 },
};

/** Does one step, when what it is about is there. */
async function act(page, find, step) {
  if (step.do === 'press') return page.keyboard.press(step.keys);
  if (step.do === 'write') return page.keyboard.type(step.text);
  if (step.do === 'drawer') {
    const opener = page.locator('.only-narrow[aria-expanded=false]');
    return (await opener.isVisible()) ? opener.click() : undefined;
  }
  const there = await page.waitForFunction(find, step.place);
  if (step.do === 'click') return there.asElement().click();
  if (step.do === 'menu') return there.asElement().click({ button: 'right' });
  if (step.do === 'show') return there.asElement().scrollIntoViewIfNeeded();
  return undefined;
}

/** Accessibility problems by axe's rules; contrast in the theme at hand included. */
async function barriers(page) {
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(
    ({ id, nodes }) => `${id} at ${nodes.map((node) => node.target).join(' · ')}`,
  );
}

/** Content that does not fit its space. */
async function crowded(page) {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = document.documentElement;
    const found = scrollWidth > clientWidth ? ['wider than the window'] : [];
    // Only parts of it move: what makes the page higher would move its bars out of sight.
    if (scrollHeight > clientHeight + 1)
      found.push(`higher than the window by ${scrollHeight - clientHeight}`);
    for (const button of document.querySelectorAll('.btn, .say, .kind, .menu-button, .k')) {
      const text = button.textContent.trim();
      if (button.scrollWidth > button.clientWidth + 1 && button.clientWidth > 0) {
        found.push(`“${text}” is wider than its place`);
      }
      if (button.matches('.btn, .kind, .k') && isWrapped(button))
        found.push(`“${text}” is wrapped`);
    }
    return found;

    /** Whether a text that belongs together stands on two lines. */
    function isWrapped(element) {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const words = document.createRange();
      while (walker.nextNode()) {
        words.selectNodeContents(walker.currentNode);
        const tops = [...words.getClientRects()].map(({ top }) => Math.round(top));
        if (new Set(tops).size > 1) return true;
      }
      return false;
    }
  });
}

const controls = new Set(
  'button link textbox combobox checkbox radio option menuitem tab switch slider listbox'.split(
    ' ',
  ),
);

/** The page as a screen reader reads it, in order: each part that is not ignored, as “role name”. */
async function heard(page) {
  const client = await page.context().newCDPSession(page);
  const { nodes } = await client.send('Accessibility.getFullAXTree');
  await client.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const told = [];
  const walk = (node) => {
    if (!node.ignored) told.push({ role: node.role.value, name: node.name?.value ?? '' });
    for (const id of node.childIds ?? []) if (byId.has(id)) walk(byId.get(id));
  };
  if (nodes[0]) walk(nodes[0]);
  return told;
}

/** Controls without a name, and what is not read where the screen says. */
async function unheard(page, reads) {
  const told = await heard(page);
  const nameless = told.filter(({ role, name }) => controls.has(role) && name.trim() === '');
  const found = nameless.map(({ role }) => `a ${role} has no name`);
  let at = 0;
  for (const wanted of reads) {
    const pattern = new RegExp(wanted);
    const next = told.findIndex(
      ({ role, name }, index) => index >= at && pattern.test(`${role} ${name}`),
    );
    if (next < 0) found.push(`“${wanted}” is not read behind what is before it`);
    else at = next + 1;
  }
  return found;
}

/** Whether any text becomes HTML: then the policy is not in force, and the screenshots show nothing of it. */
async function trusting(page) {
  return page.evaluate(() => {
    try {
      document.createElement('p').innerHTML = '<b>any text</b>';
      return ['any text becomes HTML'];
    } catch {
      return [];
    }
  });
}

/** Content without room where lines run from right to left: cut off at the edge of the window. */
async function cutOff(page) {
  return page.evaluate(() => {
    const found = [];
    const visible = { checkOpacity: true, checkVisibilityCSS: true };
    for (const control of document.querySelectorAll('button, input, textarea, summary, h1, h2')) {
      const { left, right, width } = control.getBoundingClientRect();
      if (width < 2 || !control.checkVisibility(visible) || control.closest('.vh')) continue;
      if (left < -1 || right > window.innerWidth + 1) {
        found.push(
          `“${control.getAttribute('aria-label') ?? control.textContent.trim()}” is cut off`,
        );
      }
    }
    return found;
  });
}

/** Light, dark, from right to left, and in German, from one moment to the next. */
async function screenshots(page, name, directory, reads) {
  const failures = (await unheard(page, reads)).map((found) => `accessibility tree: ${found}`);
  const file = (look) => ({ path: join(directory, `${name}-${look}.png`), animations: 'disabled' });
  await page.evaluate(axe);
  for (const theme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    const found = [...(await barriers(page)), ...(await page.evaluate(faintBoxes))];
    failures.push(...found.map((fault) => `${theme}: ${fault}`));
    await page.screenshot(file(theme));
  }
  failures.push(...(await crowded(page)), ...(await trusting(page)));
  for (const check of [odd, misplacedHints]) failures.push(...(await page.evaluate(check)));
  await page.emulateMedia({ colorScheme: 'light' });
  await page.evaluate(() => (document.documentElement.dir = 'rtl'));
  await page.screenshot(file('rtl'));
  const turned = [...(await crowded(page)), ...(await cutOff(page))];
  failures.push(...turned.map((found) => `right to left: ${found}`));
  await page.evaluate(() => document.documentElement.removeAttribute('dir'));
  await page.evaluate(async (module) => {
    (await import(module)).setLanguage('de');
  }, '/src/shared/i18n/language.svelte.ts');
  await page.screenshot(file('german'));
  const german = [...(await crowded(page)), ...(await page.evaluate(misplacedHints))];
  failures.push(...german.map((found) => `German: ${found}`));
  return failures.map((failure) => `${name} ${failure}`);
}

async function capture({ browser, base, directory, begun, find }, screen) {
  const failures = [];
  for (const size of ['wide', ...screen.sizes, 'zoomed']) {
    const name = `${screen.name}-${size}`;
    const page = await browser.newPage({ viewport: viewports[size], locale: 'en-GB' });
    // A busy machine is slow, not wrong.
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => failures.push(`${name}: ${error.message}`));
    try {
      await page.goto(`${base}?fake=${screen.story}`);
      await page.waitForFunction(find, begun);
      for (const step of screen.steps) await act(page, find, step);
      const before = await page.evaluate(places);
      for (const step of screen.still) await act(page, find, step);
      const after = screen.still.length > 0 ? await page.evaluate(places) : before;
      if (after !== before) failures.push(`${name}: a step moved from ${before} to ${after}`);
      failures.push(
        ...(await screenshots(page, name, directory, size === 'wide' ? screen.reads : [])),
      );
    } catch (error) {
      failures.push(`${name}: ${error.message}`);
    }
    await page.close();
  }
  return failures;
}

const [directory = 'screens', ...names] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
// Files that change meanwhile come with the next run: a module that is loaded twice would use two languages.
const headers = { 'Content-Security-Policy': trusted };
const server = await createServer({
  logLevel: 'error',
  server: { watch: null, hmr: false, headers },
});
await server.listen();
const { screens } = await server.ssrLoadModule('/tests/screens/list.ts');
const { begun, find } = await server.ssrLoadModule('/tests/screens/steps.ts');
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const studio = { browser, base: server.resolvedUrls.local[0], directory, begun, find };
const failures = [];
const wanted = screens.filter(({ name }) => !names.length || names.includes(name));
for (const screen of wanted) failures.push(...(await capture(studio, screen)));
await browser.close();
await server.close();
// A few of them in the engine of the window, which says itself what is wrong.
const webkit = fileURLToPath(new URL('webkit.mjs', import.meta.url));
if (!names.length && spawnSync('node', [webkit], { stdio: 'inherit' }).status !== 0) {
  failures.push('webkit: see above');
}
for (const failure of failures) console.error(failure);
console.log(`screens=${wanted.length} failed=${failures.length}`);
process.exitCode = failures.length ? 1 : 0;
