import { describe, expect, it } from 'vitest';

import { sourceText } from '../../../src/features/review/source-text';

describe('what a change was planned after', () => {
  it('is named, also where nobody said where it comes from', () => {
    expect(sourceText(['hub', 'note:Letters/Municipality.md', 'foreign'])).toBe(
      'Planned after reading a hub message, Letters/Municipality, text you didn’t write',
    );
  });
});
