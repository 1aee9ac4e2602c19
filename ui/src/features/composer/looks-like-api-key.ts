// How the keys of providers begin; the application masks the same in its logs (`redact.rs`).
const key = /(?<![\p{L}\p{N}])(?:sk-|AIza|gsk_|xai-|hf_|ghp_|github_pat_)(?=[\w-]*\d)[\w-]{8,}/u;

/** Whether a text contains something that looks like a provider's key. */
export function looksLikeApiKey(text: string): boolean {
  return key.test(text);
}
