import { describe, expect, it } from 'vitest';

import { sourceText } from '../../../src/features/review/source-text';

describe('what a change was planned after', () => {
  it('is named, also where nobody said where it comes from', () => {
    expect(sourceText(['hub', 'note:Letters/Municipality.md', 'foreign'])).toBe(
      'After reading: a message of the hub, Letters/Municipality, text that you did not write',
    );
  });
});
