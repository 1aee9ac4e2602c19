/** Turns whatever a call threw into the one shape that the window shows. */
import type { ErrorCode, UserError } from '../ipc/bindings';

const codes: readonly string[] = [
  'other',
  'key',
  'network',
  'vault',
  'write',
  'busy',
  'spending',
  'too_large',
  'answered',
  'pattern',
] satisfies readonly ErrorCode[];

/** The refusal itself, or its words when it did not come from the application. */
export function userError(thrown: unknown): UserError {
  if (isUserError(thrown)) return thrown;
  return { code: 'other', message: thrown instanceof Error ? thrown.message : String(thrown) };
}

function isUserError(value: unknown): value is UserError {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    'message' in value &&
    typeof value.message === 'string' &&
    codes.includes(String(value.code))
  );
}
