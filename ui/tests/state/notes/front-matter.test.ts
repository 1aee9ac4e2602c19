import cases from '../../../../crates/markdown/src/frontmatter/cases.json';
import { frontMatter } from '../../../src/state/notes/front-matter';

describe('frontmatter', () => {
  it.each(cases)('is where the program finds it: $name', ({ text, yaml, body }) => {
    const parts = frontMatter(text);
    expect(parts.body).toBe(body);
    expect(parts.properties.length > 0).toBe(Boolean(yaml));
  });
});
