/**
 * Hostile Markdown (tests/markdown/hostile-markdown.ts) in jsdom, Chromium and WebKit: `npm run markdown -- FILE [ID]`.
 * The last line is the sum. `CHROMIUM` and `MINIBROWSER` name browsers that are not where Debian puts them.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

import { chromium } from 'playwright-core';
import { createServer } from 'vite';

import { inWebKit, noWebKit } from './webkit-driver.mjs';

/** The number of cases in one call of a driver, which waits no longer than minutes for its end. */
const portion = 8;

/** Runs in a page: the trial, and with a renderer that cleans nothing, which must be caught. */
const script = `async ({ trial, unsafe, cases }) => {
  const { ours, trial: run } = await import(trial);
  const outcomes = await run(cases, ours);
  const { renderUnsafely: show } = await import(unsafe);
  const hostile = { id: 'control', class: 'control', markdown: '<img src=x onerror="window.__pwned=1">' };
  const [{ wrong }] = await run([hostile], show);
  const asks = wrong.some((words) => words.startsWith('asks for'));
  return { outcomes, caught: asks && wrong.includes('runs what was written') };
}`;

async function inChromium(url, argument) {
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  const page = await browser.newPage();
  // A busy machine is slow, not wrong.
  page.setDefaultTimeout(0);
  await page.goto(url);
  const told = await page.evaluate(`(${script})(${JSON.stringify(argument)})`);
  await browser.close();
  return told;
}

async function throughWebKit(url, argument) {
  return inWebKit(async (page) => {
    await page.show(url);
    const all = { outcomes: [], caught: true };
    for (let at = 0; at < argument.cases.length; at += portion) {
      const part = { ...argument, cases: argument.cases.slice(at, at + portion) };
      const told = await page.run(script, part);
      all.outcomes.push(...told.outcomes);
      all.caught &&= told.caught;
    }
    return all;
  });
}

function inJsdom(file, only) {
  const env = { ...process.env, NO_COLOR: '1', MARKDOWN_CORPUS: file, MARKDOWN_CASE: only ?? '' };
  const vitest = ['vitest', 'run', 'tests/markdown', '--reporter=dot', '--silent=false'];
  const { stdout, status } = spawnSync('npx', vitest, { env, encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => /^(FAIL )?jsdom /.test(line));
  const [, run = 0, wrong = 0] = /run=(\d+) wrong=(\d+)/.exec(lines.at(-1) ?? '') ?? [];
  for (const line of lines) console.log(line);
  return { run: Number(run), wrong: Number(wrong), holds: status === 0 };
}

function summed(engine, { outcomes, caught }) {
  const failed = outcomes.filter(({ wrong }) => wrong.length > 0);
  for (const { id, wrong } of failed) console.log(`FAIL ${engine} ${id}: ${wrong.join('; ')}`);
  const control = caught ? 'caught' : 'missed';
  console.log(`${engine} run=${outcomes.length} wrong=${failed.length} control=${control}`);
  return { run: outcomes.length, wrong: failed.length, holds: failed.length === 0 && caught };
}

const [file, only] = process.argv.slice(2);
const { cases: all } = JSON.parse(readFileSync(file, 'utf8'));
const cases = all.filter(({ id }) => !only || id === only);
if (cases.length === 0) {
  console.error(`${file} has no case${only ? ` \`${only}\`` : ''}. Name one of its ids.`);
  process.exit(2);
}
const server = await createServer({
  logLevel: 'error',
  server: { watch: null, hmr: false, port: 0, strictPort: false },
});
await server.listen();
const url = `${server.resolvedUrls.local[0]}?fake=empty-vault`;
const argument = {
  trial: '/tests/markdown/hostile-markdown.ts',
  unsafe: '/tests/markdown/unsafe-renderer.ts',
  cases,
};
const sums = [inJsdom(file, only), summed('chromium', await inChromium(url, argument))];
if (noWebKit) console.log(`SKIP webkit: ${noWebKit}`);
else sums.push(summed('webkit', await throughWebKit(url, argument)));
await server.close();
const total = (name) => sums.reduce((sum, one) => sum + one[name], 0);
console.log(`run=${total('run')} wrong=${total('wrong')}`);
process.exitCode = sums.every(({ holds }) => holds) ? 0 : 1;
