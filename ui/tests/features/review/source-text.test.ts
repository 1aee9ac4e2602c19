import { describe, expect, it } from 'vitest';

import { sourceText } from '../../../src/features/review/source-text';

describe('the sources of a proposed change', () => {
  it('are named, also where the source is unknown', () => {
    expect(sourceText(['hub', 'note:Letters/Municipality.md', 'foreign'])).toBe(
      'Proposed after reading a hub message, Letters/Municipality, text you didn’t write',
    );
  });
});
