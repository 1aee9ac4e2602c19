//! Bounds the memory that the values of a frontmatter take.
//!
//! Aliases, maps in each other and keys that are lists give one value to many properties, so a
//! short frontmatter could ask for any amount of memory.

/// The bytes of values that may be taken out of any frontmatter.
const BASE_BYTES: usize = 4 << 20;

/// The additional bytes for each byte of the frontmatter. Lines of `a: 1` need 30, most of it what
/// `String` and `Vec` take: however many they are, they are read.
const BYTES_PER_INPUT_BYTE: usize = 32;

/// How many bytes the values of one frontmatter may still take. Once used up it stays so.
pub(crate) struct MemoryBudget(usize);

impl MemoryBudget {
    pub(crate) const fn for_yaml(yaml: &str) -> Self {
        Self(BASE_BYTES + BYTES_PER_INPUT_BYTE * yaml.len())
    }

    /// Whether there was room for this many bytes.
    pub(crate) const fn try_take(&mut self, bytes: usize) -> bool {
        self.0 = self.0.saturating_sub(bytes);
        !self.is_used_up()
    }

    pub(crate) const fn is_used_up(&self) -> bool {
        self.0 == 0
    }
}

/// How many bytes a value takes.
pub(crate) const fn value_size(value: &str) -> usize {
    size_of::<String>() + value.len()
}
