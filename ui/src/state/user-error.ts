/** Converts anything that a call throws into a `UserError`. */
import type { ErrorCode, UserError } from '../ipc/bindings';
import type { SettingsTarget } from './settings/settings-route';

/** Each code, with the place in the settings where it is mended, if there is one. */
const codes: Readonly<Record<ErrorCode, SettingsTarget | null>> = {
  other: null,
  key: { section: 'answering' },
  model: { section: 'answering', field: 'model' },
  network: null,
  vault: null,
  write: null,
  busy: null,
  spending: { section: 'spending' },
  // A condition that the user can end stands above everything else for as long as it lasts.
  settings: null,
  too_large: { section: 'answering', field: 'model' },
  answered: null,
  pattern: null,
};

/** Where in the settings the user can do something about it. */
export function settingThatFixes(error: UserError | null): SettingsTarget | null {
  return error ? codes[error.code] : null;
}

/** The refusal itself, or its text when it did not come from the application. */
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
    Object.hasOwn(codes, String(value.code))
  );
}
