import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import Markdown from '../../../src/shared/markdown/Markdown.svelte';

function show(text: string, streaming = false) {
  const onnote = vi.fn();
  const onweb = vi.fn();
  const view = render(Markdown, { text, streaming, onnote, onweb });
  return { ...view, onnote, onweb };
}

describe('streaming', () => {
  it('leaves the elements of closed blocks in place', async () => {
    const { container, rerender } = show('First.\n\nSecond, still', true);
    const [first] = container.querySelectorAll('p');
    await rerender({ text: 'First.\n\nSecond, still growing.\n\nThird', streaming: true });
    const paragraphs = [...container.querySelectorAll('p')];
    expect(paragraphs.map((p) => p.textContent)).toEqual([
      'First.',
      'Second, still growing.',
      'Third',
    ]);
    expect(paragraphs[0]).toBe(first);
  });

  it('draws the open block again, which is what the check above would notice', async () => {
    const { container, rerender } = show('Only', true);
    const [before] = container.querySelectorAll('p');
    await rerender({ text: 'Only *one*', streaming: true });
    expect(container.querySelector('p')).not.toBe(before);
  });

  it('appends plain text to the drawn text, which stays', async () => {
    const { container, rerender } = show('Only', true);
    const [before] = container.querySelectorAll('p');
    await rerender({ text: 'Only one', streaming: true });
    expect(container.querySelector('p')).toBe(before);
    expect(before?.textContent).toBe('Only one');
  });
});

describe('links', () => {
  it('to notes are followed by click and by Enter', async () => {
    const { onnote } = show('See [[Pantry#Dry|the pantry]].');
    await userEvent.click(screen.getByRole('link', { name: 'the pantry' }));
    await userEvent.keyboard('{Enter}');
    expect(onnote.mock.calls).toEqual([['Pantry#Dry'], ['Pantry#Dry']]);
  });

  it('to the web are handed over and never followed', async () => {
    const { onweb, onnote } = show('[site](https://example.org/)');
    await userEvent.click(screen.getByRole('link', { name: 'site' }));
    expect(onweb).toHaveBeenCalledExactlyOnceWith('https://example.org/');
    expect(onnote).not.toHaveBeenCalled();
  });
});
