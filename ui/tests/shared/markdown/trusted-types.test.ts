import { afterEach, describe, expect, it, vi } from 'vitest';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

describe('where the engine has trusted types', () => {
  it('one policy draws Markdown, and takes HTML for Markdown', async () => {
    const made: string[] = [];
    const createPolicy = (
      name: string,
      { createHTML }: { createHTML: (markdown: string, open: boolean) => string },
    ) => {
      made.push(name);
      if (name === 'dompurify') return { createHTML: (html: string) => html };
      return {
        createHTML: (markdown: string, open: boolean) => ({ trusted: createHTML(markdown, open) }),
      };
    };
    vi.stubGlobal('trustedTypes', { createPolicy });
    vi.resetModules();
    const { htmlOf } = await import('../../../src/shared/markdown/trusted-types');
    expect(made.filter((name) => name !== 'dompurify')).toEqual(['vaultmate-markdown']);
    expect(htmlOf('**so', true)).toEqual({ trusted: '<p><strong>so</strong></p>\n' });
    expect(htmlOf('**so', false)).toEqual({ trusted: '<p>**so</p>\n' });
    expect(htmlOf('<img src=x onerror=alert(1)>', false)).toEqual({ trusted: '' });
  });
});

it('where it has none, the same is a text', async () => {
  const { htmlOf } = await import('../../../src/shared/markdown/trusted-types');
  expect(htmlOf('*so*', false)).toBe('<p><em>so</em></p>\n');
});
