//! Pictures of notes and answers, for the window.

use std::path::PathBuf;

use protocol::{NotePath, UserError};
use tokio::sync::Semaphore;
use vault::Picture;

use crate::App;
use crate::open_vault::OpenVault;
use crate::trouble::of_note;

/// So many are read at once: a note may be full of large ones, and each is held in memory whole.
static READING: Semaphore = Semaphore::const_new(4);

/// What a program that shows pictures is given: by its name too, a picture and nothing that runs.
const ENDINGS: [&str; 7] = ["png", "jpg", "jpeg", "gif", "webp", "avif", "bmp"];

impl App {
    /// The picture that `link` means in the note `source`, or where it stands in none; as the user
    /// sees it, whatever is kept from models.
    pub async fn picture(
        &self,
        link: String,
        source: Option<NotePath>,
    ) -> Result<Picture, UserError> {
        let _turn = READING.acquire().await;
        self.look_up(move |open| {
            let path = meant(open, &link, source.as_ref())?;
            open.vault.whole().picture(&path).map_err(|error| of_note(&error))
        })
        .await?
    }

    /// Where that picture lies on the disk, for programs that the user opens it with. Refused where
    /// it lies in a folder beside the vault, or is not called a picture.
    pub async fn file_of_picture(
        &self,
        link: String,
        source: Option<NotePath>,
    ) -> Result<PathBuf, UserError> {
        self.look_up(move |open| {
            let path = meant(open, &link, source.as_ref())?;
            let ending = path.extension().unwrap_or_default().to_lowercase();
            if !ENDINGS.contains(&ending.as_str()) {
                return Err(UserError::other(format!(
                    "`{path}` is not called a picture, so no other program is given it. Rename it."
                )));
            }
            let vault = open.vault.whole();
            let picture = vault.takes_changes(&path).and_then(|()| vault.picture(&path));
            picture.map_err(|error| of_note(&error))?;
            Ok(vault.folder().join(path.as_str()))
        })
        .await?
    }
}

fn meant(open: &OpenVault, link: &str, source: Option<&NotePath>) -> Result<NotePath, UserError> {
    open.indexing.user.meant(link, source).ok_or_else(|| no_picture(link))
}

fn no_picture(link: &str) -> UserError {
    UserError::other(format!(
        "There is no picture `{link}`. Put it in the folder, or name another."
    ))
}
