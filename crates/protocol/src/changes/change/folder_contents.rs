//! The contents of a folder when its deletion was planned.

/// The files and folders in a folder, at any depth, each file with its size and the time of its
/// last write. Equal if and only if the same files, unchanged, are at the same places.
///
/// As bytes it is text: a line for each, sorted by path; a file's has two more fields behind tabs,
/// a folder's path ends in `/`. Tabs, line breaks and bytes that are not UTF-8 are escaped in
/// names.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FolderContents(Vec<u8>);

/// A file in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileState {
    /// Bytes.
    pub size: u64,
    /// The last write: seconds since 1970, and nanoseconds.
    pub written: (i64, u64),
}

impl FolderContents {
    /// From paths below the folder, in any order; `None` for folders.
    #[must_use]
    pub fn from_entries<'a>(
        entries: impl IntoIterator<Item = (&'a [u8], Option<FileState>)>,
    ) -> Self {
        let line = |(path, state): (&[u8], Option<FileState>)| {
            let path = escaped(path);
            match state {
                Some(FileState { size, written: (seconds, nanos) }) => {
                    format!("{path}\t{size}\t{seconds}.{nanos:09}\n")
                }
                None => format!("{path}/\n"),
            }
        };
        let mut lines: Vec<String> = entries.into_iter().map(line).collect();
        lines.sort_unstable();
        Self(lines.concat().into_bytes())
    }

    /// From [`as_bytes`](Self::as_bytes).
    #[must_use]
    pub const fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// For storing.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The paths of the files, a line for each: what a person is shown.
    #[must_use]
    pub fn files(&self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        let files = text.lines().filter_map(|line| Some(line.split_once('\t')?.0));
        files.flat_map(|path| [path, "\n"]).collect()
    }
}

fn escaped(path: &[u8]) -> String {
    let escape = |chunk: std::str::Utf8Chunk<'_>| {
        let valid = chunk.valid().replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n");
        let rest: String = chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")).collect();
        valid + &rest
    };
    path.utf8_chunks().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_folders_look_alike_and_the_order_does_not_count() {
        let state = |size| Some(FileState { size, written: (1, 2) });
        let of =
            |entries: &[(&[u8], Option<FileState>)]| FolderContents::from_entries(entries.to_vec());
        let all = of(&[(b"b.md", state(1)), (b"a", None), (b"a/c\n\xff.md", state(2))]);
        assert_eq!(all, of(&[(b"a", None), (b"a/c\n\xff.md", state(2)), (b"b.md", state(1))]));
        assert_eq!(all.files(), "a/c\\n\\xff.md\nb.md\n");
        for other in [
            of(&[(b"b.md", state(1)), (b"a", None)]),
            of(&[(b"b.md", state(9)), (b"a", None), (b"a/c\n\xff.md", state(2))]),
            of(&[(b"b.md", state(1)), (b"a", None), (b"a/c\n\\xff.md", state(2))]),
        ] {
            assert_ne!(all, other);
        }
    }
}
