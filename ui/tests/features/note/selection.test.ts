import { beforeEach, describe, expect, it } from 'vitest';

import { selectedIn } from '../../../src/features/note/selection';

describe('the selection in a note', () => {
  let note: HTMLElement;

  beforeEach(() => {
    document.body.innerHTML =
      '<main><h1>Boiler</h1><p id="a">first</p><h2>Pressure</h2><p id="b">set to 1.2 bar</p></main><p id="out">x</p>';
    note = document.querySelector('main') ?? document.body;
  });

  function select(id: string): Selection | null {
    const selection = document.getSelection();
    const element = document.getElementById(id);
    if (element) selection?.selectAllChildren(element);
    return selection;
  }

  it('is told with the heading above it', () => {
    expect(selectedIn(note, select('b'))).toEqual({ text: 'set to 1.2 bar', heading: 'Pressure' });
    expect(selectedIn(note, select('a'))).toEqual({ text: 'first', heading: 'Boiler' });
  });

  it('is kept while the selection is elsewhere, and cleared by a click into the note', () => {
    expect(selectedIn(note, select('out'))).toBeNull();
    const selection = select('b');
    selection?.collapseToStart();
    expect(selectedIn(note, selection)).toEqual({ text: '', heading: null });
  });
});
