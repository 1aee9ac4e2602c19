import { readFileSync } from 'node:fs';

import { expect, it } from 'vitest';

import short from '../shared/markdown/hostile-markdown.json';
import { renderUnsafely } from './unsafe-renderer';
import { type Case, ours, trial } from './hostile-markdown';

/** A whole corpus, where `./dev corpus markdown` names one; else the short one. */
const file = process.env['MARKDOWN_CORPUS'];
const only = process.env['MARKDOWN_CASE'];

function corpus(): Case[] {
  if (!file) return short.map((one) => ({ ...one, class: one.id.replace(/-\d+$/, '') }));
  const { cases }: { cases: Case[] } = JSON.parse(readFileSync(file, 'utf8'));
  return cases.filter(({ id }) => !only || id === only);
}

it('shows nothing hostile that a model wrote', { timeout: 600_000 }, async () => {
  const outcomes = await trial(corpus(), ours);
  const wrong = outcomes.filter((outcome) => outcome.wrong.length > 0);
  if (file) {
    for (const { id, wrong: words } of wrong) console.log(`FAIL jsdom ${id}: ${words.join('; ')}`);
    console.log(`jsdom run=${outcomes.length} wrong=${wrong.length}`);
  }
  expect(outcomes.length).toBeGreaterThan(0);
  expect(wrong).toEqual([]);
});

it('finds out a renderer that cleans nothing', async () => {
  const hostile = [
    '<img src=x onerror=1>',
    '<img src=https://exfil.test/p.png>',
    '<iframe></iframe>',
    '<a href=javascript:1>x</a>',
  ];
  const cases = hostile.map((markdown, at) => ({ id: `c${at}`, class: 'H-rawhtml', markdown }));
  const outcomes = await trial(cases, renderUnsafely);
  expect(outcomes.filter(({ wrong }) => wrong.length === 0)).toEqual([]);
});
