/** A text that a tool was called with; `null` where the model gave none. */
import type { ToolItem } from '../rows';

export function callArgument(call: ToolItem, name: string): string | null {
  const given = argumentsOf(call)[name];
  return typeof given === 'string' && given.trim() !== '' ? given.trim() : null;
}

/** All arguments; none where the model wrote no object. */
export function argumentsOf({ arguments: json }: ToolItem): Readonly<Record<string, unknown>> {
  try {
    const given: unknown = JSON.parse(json);
    return isRecord(given) ? given : {};
  } catch {
    return {};
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
