//! The token of a hub for programs without settings: from the environment or a file, never from the
//! command line, which every program on the computer can read.
#![expect(clippy::disallowed_methods, reason = "the user names the file")]

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use hub::Token;
use protocol::UserError;
use secrecy::{ExposeSecret as _, SecretString};

/// The variable of the environment.
const TOKEN_VARIABLE: &str = "VAULTMATE_HUB_TOKEN";
/// The number of bytes of a token file that are read; no token is as long.
const MAX_TOKEN_BYTES: u64 = 64 << 10;
/// The rights of everybody but the owner.
const OTHERS_MODE_BITS: u32 = 0o077;

/// The token in `file`, without the line's end; without a file that of `VAULTMATE_HUB_TOKEN`, if it
/// is set. A file that others may read is refused.
pub fn hub_token(file: Option<&Path>) -> Result<Option<Token>, UserError> {
    let text = match file {
        Some(file) => Some(read_token_file(file)?),
        None => std::env::var(TOKEN_VARIABLE)
            .ok()
            .filter(|text| !text.is_empty())
            .map(SecretString::from),
    };
    let token = text.map(|text| Token::new(text.expose_secret())).transpose();
    token.map_err(|problem| UserError::other(problem.to_string()))
}

fn read_token_file(file: &Path) -> Result<SecretString, UserError> {
    let named = file.display();
    let failed = |error: std::io::Error| {
        UserError::other(format!("The token file {named} couldn’t be read: {error}."))
    };
    let opened = File::open(file).map_err(failed)?;
    if opened.metadata().map_err(failed)?.mode() & OTHERS_MODE_BITS != 0 {
        return Err(UserError::other(format!(
            "Other users may read the token file {named}. Run `chmod 600` on it, then try again."
        )));
    }
    let mut text = String::new();
    opened.take(MAX_TOKEN_BYTES).read_to_string(&mut text).map_err(failed)?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(SecretString::from(line.strip_suffix('\r').unwrap_or(line)))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn a_token_file_is_the_users_alone_and_its_lines_end_is_no_part_of_the_token() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("token");
        for text in ["a-token", "a-token\n", "a-token\r\n"] {
            fs::write(&file, text).expect("written");
            fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("private");
            assert_eq!(
                read_token_file(&file).expect("read").expose_secret(),
                "a-token",
                "{text:?}"
            );
            assert!(hub_token(Some(&file)).expect("a token").is_some());
        }
        for mode in [0o644, 0o640, 0o604, 0o620] {
            fs::set_permissions(&file, Permissions::from_mode(mode)).expect("shared");
            let refused = hub_token(Some(&file)).expect_err("shared").message;
            assert!(refused.contains("chmod 600") && !refused.contains("a-token"), "{refused}");
        }
        let missing = hub_token(Some(&folder.path().join("none"))).expect_err("missing").message;
        assert!(missing.contains("couldn’t be read"), "{missing}");
    }
}
