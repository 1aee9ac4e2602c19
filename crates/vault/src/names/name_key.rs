//! When two names are the same name on some system the vault may sync to.

use unicode_casefold::UnicodeCaseFold;
use unicode_normalization::UnicodeNormalization;

/// The name under NFC and full case folding: equal for names that collide on macOS or Windows.
pub(crate) fn name_key(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    name.nfd().case_fold().nfc().collect()
}
