/** Notes of the stories as the application sends them. */
import type { NoteText } from '../../src/ipc/bindings';

/** Reads properties that are lines of `name: value` or `name: [value, value]`. */
export function noteText(text: string): NoteText {
  const [fences = '', yaml = ''] = /^---\n((?:.*\n)*?)---(?:\n|$)/.exec(text) ?? [];
  const lines = yaml.split('\n').filter((line) => line !== '');
  const properties = lines.map((line) => {
    const [name = '', value = ''] = line.split(': ', 2);
    const list = /^\[(.*)\]$/.exec(value)?.[1];
    return { name, values: list === undefined ? [value] : list.split(', ') };
  });
  return { text, properties, bodyStart: fences.length };
}
