//! Images of notes and answers, for the window.

use std::path::PathBuf;

use index::UserIndex;
use protocol::{NotePath, UserError};
use tokio::sync::Semaphore;
use vault::NoteImage;

use crate::App;
use crate::user_texts;

/// The number of images that are read at once: a note may be full of large ones, and each is held
/// in memory whole.
static READ_PERMITS: Semaphore = Semaphore::const_new(4);

/// Files with these extensions may be opened in other programs: images, which nothing runs.
const IMAGE_EXTENSIONS: [&str; 7] = ["png", "jpg", "jpeg", "gif", "webp", "avif", "bmp"];

impl App {
    /// The image that `link` means in the note `source`, or outside any note. The user sees it,
    /// also if it is kept from models.
    pub async fn image(
        &self,
        link: String,
        source: Option<NotePath>,
    ) -> Result<NoteImage, UserError> {
        let _turn = READ_PERMITS.acquire().await;
        self.run_query(move |open| {
            let path = resolve_image(&open.indexer.user, &link, source.as_ref())?;
            Ok::<_, UserError>(open.vault.unfiltered().read_image(&path)?)
        })
        .await?
    }

    /// The path of that image, for programs that the user opens it with. Refused for an image in an
    /// additional folder, or one without the extension of an image.
    pub async fn image_file_path(
        &self,
        link: String,
        source: Option<NotePath>,
    ) -> Result<PathBuf, UserError> {
        self.run_query(move |open| {
            let path = resolve_image(&open.indexer.user, &link, source.as_ref())?;
            let ending = path.extension().unwrap_or_default().to_lowercase();
            if !IMAGE_EXTENSIONS.contains(&ending.as_str()) {
                return Err(UserError::other(user_texts::no_image_extension(path.as_str())));
            }
            let vault = open.vault.unfiltered();
            vault.check_not_in_extra_root(&path)?;
            vault.read_image(&path)?;
            Ok(vault.folder().join(path.as_str()))
        })
        .await?
    }
}

fn resolve_image(
    index: &UserIndex,
    link: &str,
    source: Option<&NotePath>,
) -> Result<NotePath, UserError> {
    index.resolve_link(link, source).ok_or_else(|| no_image_error(link))
}

fn no_image_error(link: &str) -> UserError {
    UserError::other(user_texts::no_image(link))
}
