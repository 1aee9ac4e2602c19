//! Reads images of the vault, as strictly as notes: at most 32 MB and 120 million pixels (ADR 15).
//!
//! The type comes from the first bytes, not from the name. Only raster images are accepted, so SVG and HTML are not. A
//! [`NoteImage`] proves both.

use std::fs::File;
use std::io::Read;

use protocol::NotePath;

use crate::filesystem::note_file;
use crate::{Vault, VaultError};

/// The largest size of an image in bytes. A larger file is not read.
pub const IMAGE_LIMIT: u64 = 32 << 20;

/// The most pixels that an image may have. Each takes four bytes where it is drawn, however few it
/// takes in its file; cameras of phones make up to 108 million.
pub const PIXEL_LIMIT: u64 = 120_000_000;

/// The number of bytes that tell the type of a file.
const MAGIC_BYTES: u64 = 512;

/// An image of one of the types that can be shown. Only [`Vault::read_image`] makes one, so a
/// `NoteImage` proves a file of the vault that begins as its type does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteImage {
    kind: ImageFormat,
    bytes: Vec<u8>,
}

/// The type of a raster image. Formats of drawing instructions, such as SVG, are not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ImageFormat {
    /// <https://www.w3.org/TR/png-3/#5PNG-file-signature>
    Png,
    /// <https://www.w3.org/Graphics/JPEG/itu-t81.pdf>, B.1.1.3
    Jpeg,
    /// <https://www.w3.org/Graphics/GIF/spec-gif89a.txt>, 17
    Gif,
    /// <https://www.rfc-editor.org/rfc/rfc9649#section-2.4>
    WebP,
    /// <https://aomediacodec.github.io/av1-avif/#brands-overview>
    Avif,
    /// <https://learn.microsoft.com/en-us/windows/win32/gdi/bitmap-storage>
    Bmp,
}

impl NoteImage {
    /// The media type, by the first bytes of the file.
    #[must_use]
    pub const fn kind(&self) -> ImageFormat {
        self.kind
    }

    /// Its bytes, exactly.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl ImageFormat {
    /// The media type, as it is told to a browser.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Gif => "image/gif",
            Self::WebP => "image/webp",
            Self::Avif => "image/avif",
            Self::Bmp => "image/bmp",
        }
    }

    /// The type of a file by its first bytes.
    fn from_magic_bytes(head: &[u8]) -> Option<Self> {
        match head {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', ..] => Some(Self::Png),
            [0xFF, 0xD8, 0xFF, ..] => Some(Self::Jpeg),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some(Self::Gif),
            [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some(Self::WebP),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => is_avif(head).then_some(Self::Avif),
            // Two letters say too little: what is reserved is zero, and the next header has a size.
            [
                b'B',
                b'M',
                _,
                _,
                _,
                _,
                0,
                0,
                0,
                0,
                _,
                _,
                _,
                _,
                12 | 40 | 52 | 56 | 64 | 108 | 124,
                0,
                0,
                0,
                ..,
            ] => Some(Self::Bmp),
            _ => None,
        }
    }
}

/// Whether one of the brands of the first box is AVIF's.
fn is_avif(head: &[u8]) -> bool {
    let size = head.first_chunk().map_or(0, |size| u32::from_be_bytes(*size));
    let end = usize::try_from(size).unwrap_or_default().min(head.len());
    // The second word behind the name is the version of the first brand.
    let brands = head.get(8..end).unwrap_or_default().chunks_exact(4).enumerate();
    brands.filter(|(at, _)| *at != 1).any(|(_, brand)| matches!(brand, b"avif" | b"avis"))
}

impl Vault {
    /// Reads the image at `path`, spelled as on disk. A file that may not be read as a note is
    /// refused here as well: links, hard links, folders, pipes, devices; nothing is waited for. A
    /// file of another type is refused after its first bytes, one over [`IMAGE_LIMIT`] before them,
    /// and one that declares more than [`PIXEL_LIMIT`] pixels after all of them.
    pub fn read_image(&self, path: &NotePath) -> Result<NoteImage, VaultError> {
        self.check_path_visible(path)?;
        let real = self.follow_symlinks(path)?;
        self.check_path_visible(&real)?;
        let read = self.open_image(&real).map_err(|error| self.not_downloaded(&real, error));
        self.filter_text(&real, read).map(|(bytes, kind)| NoteImage { kind, bytes })
    }

    fn open_image(&self, path: &NotePath) -> Result<(Vec<u8>, ImageFormat), VaultError> {
        let (file, stat) = self.open_regular_file(path)?;
        let size = note_file::size(&stat);
        check_size(path, size)?;
        let mut bytes =
            Vec::with_capacity(usize::try_from(size.min(MAGIC_BYTES)).unwrap_or_default());
        read_more(path, &file, MAGIC_BYTES, &mut bytes)?;
        let not_an_image = || VaultError::NotAnImage { path: path.clone() };
        let kind = ImageFormat::from_magic_bytes(&bytes).ok_or_else(not_an_image)?;
        // It may grow meanwhile.
        let rest = IMAGE_LIMIT + 1 - bytes.len() as u64;
        read_more(path, &file, rest, &mut bytes)?;
        check_size(path, bytes.len() as u64)?;
        check_pixels(path, &bytes)?;
        Ok((bytes, kind))
    }
}

fn check_size(path: &NotePath, size: u64) -> Result<(), VaultError> {
    if size > IMAGE_LIMIT {
        return Err(VaultError::ImageTooLarge { path: path.clone(), size });
    }
    Ok(())
}

/// An image that does not declare its size passes: nobody can draw it.
fn check_pixels(path: &NotePath, bytes: &[u8]) -> Result<(), VaultError> {
    let Ok(size) = imagesize::blob_size(bytes) else { return Ok(()) };
    let (width, height) = (size.width as u64, size.height as u64);
    if width.saturating_mul(height) > PIXEL_LIMIT {
        return Err(VaultError::TooManyPixels { path: path.clone(), width, height });
    }
    Ok(())
}

/// Adds what comes next, at most `most` bytes.
fn read_more(
    path: &NotePath,
    file: &File,
    most: u64,
    bytes: &mut Vec<u8>,
) -> Result<(), VaultError> {
    let failed = |source| VaultError::Io { verb: "read", path: path.clone(), source };
    file.take(most).read_to_end(bytes).map(drop).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(head: &[u8], kind: Option<ImageFormat>) {
        assert_eq!(ImageFormat::from_magic_bytes(head), kind, "{}", head.escape_ascii());
    }

    #[test]
    fn image_type_is_known_by_its_first_bytes() {
        check(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", Some(ImageFormat::Png));
        check(b"\xff\xd8\xff\xe0\0\x10JFIF", Some(ImageFormat::Jpeg));
        check(b"GIF87a\x01\0", Some(ImageFormat::Gif));
        check(b"GIF89a\x01\0", Some(ImageFormat::Gif));
        check(b"RIFF\x1a\0\0\0WEBPVP8L", Some(ImageFormat::WebP));
        check(b"\0\0\0\x1cftypavif\0\0\0\0mif1avifmiaf", Some(ImageFormat::Avif));
        check(b"\0\0\0\x18ftypmif1\0\0\0\0mif1avis", Some(ImageFormat::Avif));
        check(b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0", Some(ImageFormat::Bmp));
    }

    #[test]
    fn other_first_bytes_are_no_image() {
        for head in [
            &b""[..],
            b"\x89PNG\n\x1a\n",
            b"\xff\xd8",
            b"GIF88a",
            b"RIFF\x1a\0\0\0WAVEfmt ",
            // A film, and an image of another maker; a brand outside of the box says nothing.
            b"\0\0\0\x18ftypisom\0\0\0\0isommp42",
            b"\0\0\0\x18ftypheic\0\0\0\0mif1heic",
            b"\0\0\0\x10ftypheic\0\0\0\0avif",
            b"\0\0\0\x14ftypheicavifmif1",
            b"BMW sells cars, and this is a text about them.",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"<?xml version='1.0'?><svg/>",
            b"<!doctype html><script>1</script>",
            b" \x89PNG\r\n\x1a\n",
            b"%PDF-1.7",
            b"II*\0",
        ] {
            check(head, None);
        }
    }
}
