//! Reading an image: its type comes from its bytes, and it is confined as every note is.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use protocol::settings::PrivateSettings;
use protocol::{NotePath, Privacy, PrivateRules};
use support::{Folder, path};
use vault::{IMAGE_LIMIT, ImageFormat, PrivacyFilter, SymlinkPolicy, VaultError};

/// One gray pixel.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cch\0\0\0\x82\0\x81w\xcdr\xb6\0\0\0\0IEND\xaeB`\x82";
const GIF: &[u8] = b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\0;";

#[track_caller]
fn refused(folder: &Folder, at: &str) -> VaultError {
    folder.vault().read_image(&path(at)).expect_err(at)
}

#[test]
fn image_is_read_whole_and_typed_by_its_bytes() {
    let folder = Folder::new();
    folder.write("Attachments/plum tree.png", PNG);
    folder.write("called.jpg", GIF);
    folder.write("no ending", PNG);
    let vault = folder.vault();
    for (at, kind, media_type, bytes) in [
        ("Attachments/plum tree.png", ImageFormat::Png, "image/png", PNG),
        ("called.jpg", ImageFormat::Gif, "image/gif", GIF),
        ("no ending", ImageFormat::Png, "image/png", PNG),
    ] {
        let image = vault.read_image(&path(at)).unwrap();
        assert_eq!((image.kind(), image.kind().media_type()), (kind, media_type), "{at}");
        assert_eq!(image.into_bytes(), bytes, "{at}");
    }
}

#[test]
fn other_files_are_refused_whatever_their_names() {
    let folder = Folder::with(&[
        ("page.png", "<!doctype html><script>alert(1)</script>"),
        ("drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>"),
        ("drawing.png", "<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("note.md", "# A note"),
        ("empty.png", ""),
    ]);
    for at in ["page.png", "drawing.svg", "drawing.png", "note.md", "empty.png"] {
        let error = refused(&folder, at);
        assert!(matches!(error, VaultError::NotAnImage { .. }), "{at}: {error}");
    }
    let said = refused(&folder, "page.png").to_string();
    assert_eq!(
        said,
        "`page.png` can’t be shown: it isn’t a PNG, JPEG, GIF, WebP, AVIF, or BMP image. Save it \
         as one of these."
    );
}

#[test]
fn no_way_leads_out_of_the_vault_and_nothing_protected_is_read() {
    let folder = Folder::new();
    folder.write("in.png", PNG);
    folder.write(".obsidian/icon.png", PNG);
    fs::write(folder.out.join("out.png"), PNG).unwrap();
    symlink(folder.out.join("out.png"), folder.root.join("link.png")).unwrap();
    symlink(&folder.out, folder.root.join("linkdir")).unwrap();
    symlink("in.png", folder.root.join("inside.png")).unwrap();
    fs::hard_link(folder.out.join("out.png"), folder.root.join("hard.png")).unwrap();
    // The control: the file system itself goes there.
    for way in ["../out/out.png", "link.png", "linkdir/out.png", "hard.png"] {
        assert_eq!(fs::read(folder.root.join(way)).unwrap(), PNG, "{way}");
    }
    for way in ["../out/out.png", "notes/../../out/out.png", ".obsidian/icon.png", "..\\out.png"] {
        assert!(NotePath::parse(way).is_err(), "{way}");
    }
    let absolute = folder.out.join("out.png");
    let within = NotePath::parse(absolute.to_str().unwrap());
    assert!(within.is_err() || folder.vault().read_image(&within.unwrap()).is_err());
    for at in ["link.png", "linkdir/out.png", "inside.png", "hard.png"] {
        let error = refused(&folder, at);
        assert!(matches!(error, VaultError::NotANote { .. }), "{at}: {error}");
    }
    let vault = folder.vault();
    vault.set_symlink_policy(SymlinkPolicy::Inside);
    assert_eq!(vault.read_image(&path("inside.png")).unwrap().into_bytes(), PNG);
    for at in ["link.png", "linkdir/out.png"] {
        let error = vault.read_image(&path(at)).unwrap_err();
        assert!(matches!(error, VaultError::NotANote { .. }), "{at}: {error}");
    }
}

#[test]
fn what_is_not_an_ordinary_file_is_refused_at_once() {
    let folder = Folder::new();
    fs::create_dir(folder.root.join("dir.png")).unwrap();
    let pipe = folder.root.join("pipe.png");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.root.join("sock.png")).unwrap();
    for at in ["dir.png", "pipe.png", "sock.png"] {
        let error = refused(&folder, at);
        assert!(matches!(error, VaultError::NotANote { .. }), "{at}: {error}");
    }
    let error = refused(&folder, "gone.png");
    assert!(matches!(error, VaultError::NotFound { .. }), "{error}");
}

#[test]
fn image_up_to_the_limit_is_read_and_a_larger_one_is_refused() {
    let folder = Folder::new();
    folder.write("large.png", PNG);
    let file = fs::File::options().write(true).open(folder.root.join("large.png")).unwrap();
    file.set_len(IMAGE_LIMIT).unwrap();
    let read = folder.vault().read_image(&path("large.png")).unwrap().into_bytes();
    assert_eq!((read.len() as u64, &read[..PNG.len()]), (IMAGE_LIMIT, PNG));

    file.set_len(IMAGE_LIMIT + 1).unwrap();
    let error = refused(&folder, "large.png");
    let too_large = IMAGE_LIMIT + 1;
    assert!(
        matches!(error, VaultError::ImageTooLarge { size, .. } if size == too_large),
        "{error}"
    );
    assert!(error.to_string().contains("33 MiB. Images can have up to 32 MiB"), "{error}");
    file.set_len(5 << 30).unwrap();
    assert!(matches!(refused(&folder, "large.png"), VaultError::ImageTooLarge { .. }));
}

/// An image without pixel data that declares this size in its header: the form of
/// <https://www.w3.org/TR/png-3/#11IHDR>.
fn png(width: u32, height: u32) -> Vec<u8> {
    let head = [&b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..], &width.to_be_bytes(), &height.to_be_bytes()];
    [&head.concat()[..], b"\x01\0\0\0\0"].concat()
}

#[test]
fn image_with_too_many_pixels_is_refused() {
    let folder = Folder::new();
    for (name, width, height) in [("photo.png", 12_000, 9_000), ("thin.png", 4, 30_000_000)] {
        folder.write(name, png(width, height));
        assert!(folder.vault().read_image(&path(name)).is_ok(), "{name}");
    }
    let wide = u16::MAX.to_le_bytes();
    let gif = [&b"GIF89a"[..], &wide, &wide, b"\0\0\0;"].concat();
    for (name, bytes) in [
        ("bomb.png", png(30_000, 30_000)),
        ("vast.png", png(u32::MAX, u32::MAX)),
        ("one.png", png(4, 30_000_001)),
        ("bomb.gif", gif),
    ] {
        folder.write(name, &bytes);
        assert!(matches!(refused(&folder, name), VaultError::TooManyPixels { .. }), "{name}");
    }
    let words = refused(&folder, "bomb.png").to_string();
    assert!(words.contains("30000 × 30000 pixels. Images can have up to 120 million"), "{words}");
}

#[test]
fn image_of_an_additional_folder_is_read() {
    let folder = Folder::new();
    let root = folder.add_sibling("work", &[("a.md", "a")]);
    fs::write(root.join("pic.png"), PNG).unwrap();
    let at = path("work/pic.png");
    assert!(matches!(folder.vault().read_image(&at), Err(VaultError::NotFound { .. })));
    let vault = folder.vault_with(&[Path::new(&root)]);
    assert_eq!(vault.read_image(&at).unwrap().into_bytes(), PNG);
}

#[test]
fn filter_hides_images_of_a_private_folder() {
    let folder = Folder::new();
    folder.write("Diary/pic.png", PNG);
    let never = vec!["Diary".to_owned()];
    let rules = PrivateSettings { never, ..PrivateSettings::default() };
    let rules = PrivateRules::parse(&rules).unwrap();
    let at = path("Diary/pic.png");
    let screened = folder.vault().filtered(PrivacyFilter::new(rules, Privacy::Open).into());
    assert!(matches!(screened.read_image(&at), Err(VaultError::NotFound { .. })));
    assert_eq!(screened.unfiltered().read_image(&at).unwrap().into_bytes(), PNG);
}
