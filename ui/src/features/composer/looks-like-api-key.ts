// How the keys of providers begin, and all that may be one; the application masks the same in its logs (`redact.rs`).
const key = /(?<![\p{L}\p{N}])(?:sk-|AIza|gsk_|xai-|hf_|ghp_|github_pat_)([\w-]*)/gu;
/** The number of letters behind the beginning of a key, at least. */
const shortest = 8;

/** Whether a text contains something that looks like a provider's key. */
export function looksLikeApiKey(text: string): boolean {
  // Behind a beginning inside of another one stands no more than behind that one.
  return [...text.matchAll(key)].some(
    ([, rest = '']) => rest.length >= shortest && /\d/.test(rest),
  );
}
