import { render } from '@testing-library/svelte';

import cases from '../../../../crates/protocol/src/notes/invisible/cases.json';
import DiffLines from '../../../src/shared/diff/DiffLines.svelte';
import { renderClosed } from '../../../src/shared/markdown/render';
import { splitInvisible } from '../../../src/shared/text/invisible';

const tags = [...'obey'].map((sign) => String.fromCodePoint(0xe0000 + sign.charCodeAt(0))).join('');

describe('characters that nobody sees', () => {
  it.each(cases)('are found as the program finds them: $name', ({ text, visible }) => {
    const seen = splitInvisible(text).filter((_, at) => at % 2 === 0);
    expect(seen.join('')).toBe(visible);
  });

  it('are marks in rendered Markdown, in text and in code, and nothing else is', () => {
    const html = renderClosed(`Buy **mi${tags}lk** and \`x\u200b\u200by\` 👩\u200d💻.`);
    expect(html).toContain('mi<span class="unseen" title="4 invisible characters">⊘</span>lk');
    expect(html).toContain('x<span class="unseen" title="2 invisible characters">⊘</span>y');
    expect(html.match(/unseen/g)).toHaveLength(2);
    expect(html).not.toContain(tags);
    expect(renderClosed('Buy milk.')).not.toContain('unseen');
  });

  it('are marks in what a review shows', () => {
    const words = [{ text: `a${tags}`, marked: true }];
    const lines = [{ sign: 'added' as const, words }];
    const { container } = render(DiffLines, { lines, added: 'Added', removed: 'Removed' });
    expect(container.querySelector('ins .unseen')?.getAttribute('title')).toBe(
      '4 invisible characters',
    );
  });

  it('do not let a hostile text through that was not let through before', () => {
    const html = renderClosed(`${tags}<img src=x onerror=alert(1)>[a](javascript:alert(1))`);
    expect(html).not.toMatch(/<img|onerror=|javascript:/);
  });
});
