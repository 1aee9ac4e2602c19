/** Diffs as stories tell them. */
import type {
  DiffLine,
  DiffLineKind,
  DiffSpan,
  NoteDiff,
  NotePath,
} from '../../../../src/ipc/bindings';

/** A line whose `*starred*` parts are the differences. */
export function line(sign: DiffLineKind, text: string): DiffLine {
  const words: DiffSpan[] = text
    .split('*')
    .map((piece, index) => ({ text: piece, marked: index % 2 === 1 }))
    .filter((piece) => piece.text !== '');
  return { sign, words };
}

/** A note whose bytes are exchanged, but for what is given. */
export function noteDiff(path: NotePath, change: Partial<NoteDiff>): NoteDiff {
  return {
    path,
    kind: 'replace',
    to: null,
    unit: null,
    added: 0,
    removed: 0,
    hunks: [],
    rules: false,
    seen: JSON.stringify([path, change]),
    problem: null,
    ...change,
  };
}
