import { describe, expect, it } from 'vitest';

import { keysText, matchesKeys } from '../../../src/shared/input/shortcut';

function press(key: string, held: KeyboardEventInit = {}): KeyboardEvent {
  return new KeyboardEvent('keydown', { key, ...held });
}

describe('keys', () => {
  it.each([
    ['Mod+K', press('k', { ctrlKey: true })],
    ['Mod+K', press('k', { metaKey: true })],
    ['Mod+Shift+F', press('F', { ctrlKey: true, shiftKey: true })],
    ['Mod+,', press(',', { ctrlKey: true })],
    // Shift is needed for it on some keyboards.
    ['?', press('?', { shiftKey: true })],
    ['?', press('?')],
    ['A', press('A')],
    ['Shift+A', press('A', { shiftKey: true })],
    ['F2', press('F2')],
  ])('%s is pressed', (keys, event) => {
    expect(matchesKeys(event, keys)).toBe(true);
  });

  it.each([
    ['Mod+K', press('k')],
    ['Mod+K', press('K', { ctrlKey: true, shiftKey: true })],
    // A character that a keyboard types with a third level is text.
    ['Mod+K', press('k', { ctrlKey: true, altKey: true })],
    ['A', press('A', { shiftKey: true })],
    ['A', press('a', { ctrlKey: true })],
    ['?', press('?', { ctrlKey: true })],
    ['F2', press('F2', { shiftKey: true })],
  ])('%s is not', (keys, event) => {
    expect(matchesKeys(event, keys)).toBe(false);
  });

  it('are written as they stand on the keyboard', () => {
    expect(['Mod+Shift+F', 'ArrowUp', '?', 'Delete'].map(keysText)).toEqual([
      'Ctrl+Shift+F',
      '↑',
      '?',
      'Del',
    ]);
  });
});
