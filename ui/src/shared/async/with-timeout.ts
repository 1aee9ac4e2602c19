/** Waits for a promise for a short time. */

/** The longest wait, in milliseconds: a moment that nobody notices. */
const moment = 100;

/** Resolves with it, or after a moment. */
export async function withTimeout(done: Promise<void>): Promise<void> {
  await Promise.race([done, new Promise((resolve) => setTimeout(resolve, moment))]);
}
