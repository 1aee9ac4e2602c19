/**
 * Pictures of every story, light and dark, wide and narrow: `npm run screens -- DIR [NAME…]`.
 * Needs a Chromium; `CHROMIUM` names it when it is not at /usr/bin/chromium.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';
import { createServer } from 'vite';

const axe = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'));
const wide = { width: 1180, height: 760 };
const narrow = { width: 760, height: 900 };
const small = { width: 480, height: 760 };
/** The wide one at 200 %. */
const zoomed = { width: 590, height: 380 };

/** What is pictured: a story, what is done in it first, in which sizes. */
const screens = [
  { name: 'chat', story: 'chat', sizes: { wide, narrow } },
  { name: 'chat-open', story: 'chat', prepare: openTools, sizes: { wide } },
  { name: 'chat-note', story: 'chat', prepare: openNote, sizes: { wide, narrow } },
  { name: 'chat-menu', story: 'chat', prepare: openMenu, sizes: { wide } },
  { name: 'chat-drawer', story: 'question', prepare: openDrawer, sizes: { narrow } },
  { name: 'long', story: 'long-chat', prepare: openFailure, sizes: { wide, small } },
  { name: 'link', story: 'long-chat', prepare: openLink, sizes: { wide } },
  { name: 'question', story: 'question', sizes: { wide, small } },
  { name: 'held', story: 'held', sizes: { wide, small } },
  { name: 'list-menu', story: 'chat', prepare: openRowMenu, sizes: { wide } },
  { name: 'list-archive', story: 'chat', prepare: openArchive, sizes: { wide } },
  { name: 'list-rename', story: 'chat', prepare: rename, sizes: { wide } },
  { name: 'review-card', story: 'review', sizes: { wide } },
  { name: 'review', story: 'review', prepare: openReview, sizes: { wide, narrow, small } },
  { name: 'review-decided', story: 'review', prepare: decide, sizes: { wide } },
  { name: 'review-editing', story: 'review', prepare: editHunk, sizes: { wide, small } },
  { name: 'sixty', story: 'sixty', prepare: openReview, sizes: { wide, narrow, small } },
  { name: 'sixty-decided', story: 'sixty', prepare: decideSixty, sizes: { wide } },
  { name: 'moves-card', story: 'moves', sizes: { wide, small } },
  { name: 'moves', story: 'moves', prepare: openReview, sizes: { wide, narrow, small } },
  { name: 'moves-decided', story: 'moves', prepare: decideMoves, sizes: { wide, small } },
  { name: 'chat-undo', story: 'changes', prepare: undoLast, sizes: { wide, small } },
  { name: 'changes', story: 'changes', prepare: openChanges, sizes: { wide, narrow, small } },
  { name: 'changes-open', story: 'changes', prepare: openChange, sizes: { wide, small } },
  { name: 'changes-conflict', story: 'changes', prepare: meetConflict, sizes: { wide, small } },
  { name: 'changes-chat', story: 'changes', prepare: openFromChat, sizes: { wide } },
  { name: 'changes-empty', story: 'empty-vault', prepare: openChanges, sizes: { wide } },
  { name: 'anew', story: 'anew', prepare: askCost, sizes: { wide, small } },
  { name: 'anew-editing', story: 'anew', prepare: editMessage, sizes: { wide, small } },
  { name: 'queue', story: 'queue', sizes: { wide, small } },
  { name: 'queue-editing', story: 'queue', prepare: editQueued, sizes: { wide, small } },
  { name: 'offered', story: 'offered', sizes: { wide, small } },
  { name: 'parameters', story: 'anew', prepare: openParameters, sizes: { wide, small } },
  { name: 'spending', story: 'anew', prepare: openSpending, sizes: { wide, small } },
  { name: 'commands', story: 'commands', sizes: { wide, small } },
  { name: 'failed', story: 'failed', sizes: { wide } },
  { name: 'retired', story: 'retired', sizes: { wide } },
  { name: 'interrupted', story: 'interrupted', sizes: { wide } },
  { name: 'limited', story: 'limited', sizes: { wide } },
  { name: 'empty', story: 'empty-vault', sizes: { wide } },
  { name: 'trouble', story: 'trouble', sizes: { wide, narrow } },
  { name: 'switcher', story: 'search', prepare: openSwitcher, sizes: { wide, small } },
  { name: 'switcher-none', story: 'search', prepare: openSwitcherNone, sizes: { wide } },
  { name: 'search', story: 'search', prepare: openSearch, sizes: { wide, narrow, small } },
  { name: 'search-bad', story: 'search', prepare: openBadSearch, sizes: { wide } },
  { name: 'search-tags', story: 'search', prepare: openTags, sizes: { wide } },
  { name: 'search-tasks', story: 'search', prepare: openTasks, sizes: { wide } },
  { name: 'note-links', story: 'search', prepare: openLinks, sizes: { wide, narrow } },
  { name: 'indexing', story: 'indexing', prepare: openTags, sizes: { wide } },
  { name: 'settings', story: 'trouble', prepare: openSettings, sizes: { wide, small } },
  { name: 'settings-hub', story: 'trouble', prepare: openHub, sizes: { wide, small } },
  { name: 'first-run', story: 'first-run', sizes: { wide } },
  { name: 'first-run-2', story: 'first-run', prepare: openSample, sizes: { wide, small } },
  { name: 'lost-vault', story: 'lost-vault', sizes: { wide } },
];

async function openTools(page) {
  await page.getByText('Read 4 notes').click();
}
async function openNote(page) {
  await page.getByRole('link', { name: 'Pantry' }).click();
  await page.getByTestId('note-pane').waitFor();
}
async function openMenu(page) {
  await page.getByRole('button', { name: /Review ·/ }).click();
}
async function openDrawer(page) {
  await page.getByRole('button', { name: /^Conversations/ }).click();
}
async function openList(page) {
  const drawer = page.getByRole('button', { name: /^Conversations/ });
  if (await drawer.isVisible()) await drawer.click();
}
async function openRowMenu(page) {
  await openList(page);
  await page.locator('[data-row=books]').click({ button: 'right' });
}
async function openArchive(page) {
  await openList(page);
  await page.getByTestId('open-archive').click();
  await page.getByTestId('archive-empty').waitFor();
}
async function rename(page) {
  await openList(page);
  await page.locator('[data-row=books]').focus();
  await page.keyboard.press('F2');
}
async function openFailure(page) {
  await page.getByText('Could not change a note').click();
  await page.getByTestId('chat-log').evaluate((log) => {
    log.parentElement.scrollTop = 0;
  });
}
async function openLink(page) {
  await page.getByRole('link', { name: /example.org/ }).click();
}
async function openReview(page) {
  await page.getByTestId('review-open').click();
}
async function decide(page) {
  await openReview(page);
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  await page.keyboard.press('r');
}
async function editHunk(page) {
  await openReview(page);
  await page.keyboard.press('j');
  await page.keyboard.press('e');
  await page.getByRole('textbox', { name: 'The new lines' }).waitFor();
}
async function decideSixty(page) {
  await openReview(page);
  await page.keyboard.press('a');
  await page.getByRole('button', { name: 'Leave out Diary/2026-01-02' }).click();
  await page.keyboard.press('j');
  await page.keyboard.press('a');
  await page.keyboard.press('j');
  await page.keyboard.press('r');
}
async function decideMoves(page) {
  await openReview(page);
  await page.getByRole('button', { name: 'Accept all but removals' }).click();
  await page.keyboard.press('j');
  await page.keyboard.press('r');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  await page.keyboard.press('j');
}
async function openChanges(page) {
  await openList(page);
  await page.getByTestId('open-changes').click();
  await page.getByTestId('changes').waitFor();
}
async function openChange(page) {
  await openChanges(page);
  await page.getByRole('button', { name: /^Made 4 changes|^Changed 4 notes/ }).click();
  await page.getByRole('button', { name: /^Moved Minutes/ }).click();
}
async function meetConflict(page) {
  await openChanges(page);
  await page.getByTestId('change-undo').nth(2).click();
  await page.getByTestId('conflict').waitFor();
}
async function openFromChat(page) {
  await page.getByRole('button', { name: 'See the changes' }).click();
  await page.getByText('mushrooms').waitFor();
}
async function undoLast(page) {
  await page.getByTestId('turn-undo').waitFor();
  await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Control+z');
  await page.getByTestId('undo-notice').waitFor();
}
async function openSwitcher(page) {
  await page.keyboard.press('Control+p');
  await page.keyboard.type('boi');
  await page.getByRole('option').first().waitFor();
}
async function openSwitcherNone(page) {
  await page.keyboard.press('Control+p');
  await page.keyboard.type('xyz');
  await page.getByTestId('switcher-none').waitFor();
}
async function openSearch(page) {
  await page.keyboard.press('Control+Shift+f');
  await page.keyboard.type('expansion vessel');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
}
async function openBadSearch(page) {
  await page.keyboard.press('Control+Shift+f');
  await page.getByRole('checkbox', { name: 'Regular expression' }).check();
  await page.getByTestId('search-field').fill('(vessel');
  await page.getByTestId('search-problem').waitFor();
}
async function openTags(page) {
  await page.keyboard.press('Control+Shift+f');
  await page.getByTestId('search-tags').click();
  await page.getByTestId('search-summary').getByText(/\w/).waitFor();
}
async function openTasks(page) {
  await page.keyboard.press('Control+Shift+f');
  await page.getByTestId('search-tasks').click();
  await page.getByRole('option').first().waitFor();
}
async function openLinks(page) {
  await page.keyboard.press('Control+Shift+f');
  await page.keyboard.type('yearly');
  await page.getByRole('option').first().waitFor();
  await page.keyboard.press('Enter');
  await page.getByTestId('note-links').waitFor();
  await page.getByTestId('note-links').scrollIntoViewIfNeeded();
}
async function openSettings(page) {
  await page.keyboard.press('Control+,');
  await page.getByTestId('settings').waitFor();
}
async function askCost(page) {
  await page.getByRole('button', { name: 'Cost' }).last().click();
}
async function editMessage(page) {
  await page.getByTestId('message-actions').last().getByRole('button', { name: 'Edit' }).click();
}
async function editQueued(page) {
  await page.getByTestId('queued').nth(1).getByRole('button', { name: 'Edit' }).click();
}
async function openParameters(page) {
  await openSettings(page);
  await page.getByText(/^Parameters of/).click();
  await page.getByLabel('Extra parameters').scrollIntoViewIfNeeded();
}
async function openHub(page) {
  await openSettings(page);
  await page.locator('#settings-desktop').scrollIntoViewIfNeeded();
}
async function openSpending(page) {
  await openSettings(page);
  await page.getByTestId('month-spent').last().scrollIntoViewIfNeeded();
}
async function openSample(page) {
  await page.getByRole('button', { name: 'sample' }).click();
  await page.getByText('Try it').last().waitFor();
}

/** What would keep somebody out, by axe's rules; contrast in the theme at hand included. */
async function barriers(page) {
  await page.addScriptTag({ path: axe });
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  return violations.map(
    ({ id, nodes }) => `${id} at ${nodes.map((node) => node.target).join(' · ')}`,
  );
}

async function picture(browser, base, directory, screen, theme) {
  const failures = [];
  for (const [size, viewport] of Object.entries({ ...screen.sizes, zoomed })) {
    const page = await browser.newPage({ viewport, colorScheme: theme, locale: 'en-GB' });
    page.on('pageerror', (error) => failures.push(`${screen.name}: ${error.message}`));
    await page.goto(`${base}?fake=${screen.story}`);
    await page
      .getByTestId(/composer|firstrun/)
      .first()
      .waitFor();
    await screen.prepare?.(page);
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    if (overflow) failures.push(`${screen.name} ${size}: wider than the window`);
    failures.push(
      ...(await barriers(page)).map((found) => `${screen.name} ${size} ${theme}: ${found}`),
    );
    await page.screenshot({ path: join(directory, `${screen.name}-${size}-${theme}.png`) });
    await page.close();
  }
  return failures;
}

const [directory = 'screens', ...names] = process.argv.slice(2);
await mkdir(directory, { recursive: true });
const server = await createServer({ logLevel: 'error' });
await server.listen();
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const failures = [];
const wanted = screens.filter(({ name }) => !names.length || names.includes(name));
for (const screen of wanted) {
  for (const theme of ['light', 'dark']) {
    failures.push(
      ...(await picture(browser, server.resolvedUrls.local[0], directory, screen, theme)),
    );
  }
}
await browser.close();
await server.close();
for (const failure of failures) console.error(failure);
console.log(`screens=${wanted.length} failed=${failures.length}`);
process.exitCode = failures.length ? 1 : 0;
