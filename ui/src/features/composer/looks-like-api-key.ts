// How the keys of vendors begin; the application masks the same in its logs (`redact.rs`).
const key = /(?<![\p{L}\p{N}])(?:sk-|AIza|gsk_|xai-|hf_|ghp_|github_pat_)(?=[\w-]*\d)[\w-]{8,}/u;

/** Whether a text holds what looks like a vendor's key. */
export function looksLikeApiKey(text: string): boolean {
  return key.test(text);
}
