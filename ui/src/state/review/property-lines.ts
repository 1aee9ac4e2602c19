/** Lines of the properties at the top of a note, each read on its own. */

/** `name: value` at the beginning of a line; the value may be empty. */
interface PropertyLine {
  readonly name: string;
  readonly value: string;
}

export function asProperty(line: string): PropertyLine | null {
  const [, name, value = ''] = /^([^\s:#-][^:]*):(?:\s(.*))?$/.exec(line) ?? [];
  return name === undefined ? null : { name, value: value.trim() };
}

/** `- value`, as a list has it below its name. */
interface ItemLine {
  readonly indentation: string;
  readonly value: string;
}

export function asItem(line: string): ItemLine | null {
  const [, indentation, value] = /^(\s*)-\s+(\S.*)$/.exec(line) ?? [];
  if (indentation === undefined || value === undefined) return null;
  return { indentation, value: value.trimEnd() };
}

/** Whether a line begins or ends the properties. */
export function isFence(line: string): boolean {
  return /^(?:---|\.\.\.)\s*$/.test(line);
}

/** Whether a line has nothing but blanks or a comment. */
export function isRemark(line: string): boolean {
  return /^\s*(?:#|$)/.test(line);
}

/** Of quotes only those around a whole value have a meaning. */
const flowValue = /\s*(?:("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*|([^\s"'[\]{},][^[\]{},]*))(?:,|$)/uy;

/** The values of a list that is written in one line, as they are written; `null` for what is no list, or has lists or
 * maps inside. */
export function flowValues(value: string): string[] | null {
  const inside = /^\[(.*)\]$/.exec(value)?.[1]?.trimEnd();
  if (inside === undefined) return null;
  const values: string[] = [];
  flowValue.lastIndex = 0;
  while (flowValue.lastIndex < inside.length) {
    const [, quoted, plain] = flowValue.exec(inside) ?? [];
    const found = quoted ?? plain?.trimEnd();
    if (found === undefined) return null;
    values.push(found);
  }
  return values;
}
