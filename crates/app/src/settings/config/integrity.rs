//! Whether the settings file is complete. A file that may have lost a part counts for nothing, because the part could be a
//! rule for private notes.
//!
//! A file is complete if it ends with our last line, or if it lost no key and no private rule of `config.toml.last-good`.

use protocol::settings::SettingsChoice;
use protocol::{PrivateRules, ProviderKind, Settings};
use toml_edit::{DocumentMut, TableLike};

use super::misspelled_keys::find_misspelled_key;

/// The last line of a file that we wrote.
pub(super) const END_MARKER: &str =
    "# End of the settings. Keep this line last: without it they may count as cut off.";

/// The settings of a whole file.
#[derive(Debug, Clone)]
pub(super) struct ParsedConfig {
    pub(super) settings: Settings,
    pub(super) private: PrivateRules,
    /// Without [`END_MARKER`].
    pub(super) document: DocumentMut,
}

/// Why a file does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ConfigFault {
    /// It is not there, and was.
    Gone,
    /// It is there and says nothing.
    Empty,
    /// Its end is missing.
    Cut,
    /// It cannot be read or understood.
    Unreadable(String),
    /// It is whole, but its copy could not be written, so a later loss would go unnoticed.
    Unguarded(String),
}

/// The file as it was found on the disk.
#[derive(Debug, Clone)]
pub(super) struct ConfigOnDisk {
    /// The file; `None` when it is not there, `Err` with the reason when it cannot be read.
    pub(super) file: Result<Option<Vec<u8>>, String>,
    /// The file as it was when it was last whole.
    pub(super) last_good: Option<String>,
    /// Whether the file is that one.
    pub(super) is_last_good: bool,
}

impl ConfigOnDisk {
    /// The settings of the file, if nothing of it is missing.
    ///
    /// A file that ends with [`END_MARKER`] is whole. One that does not (written by hand, or by an older version)
    /// is whole if it ends with a line break and still has each setting and each private rule that the last
    /// good one had.
    pub(super) fn parse_complete(&self) -> Result<ParsedConfig, ConfigFault> {
        let text = match &self.file {
            Err(why) => return Err(ConfigFault::Unreadable(why.clone())),
            Ok(None) if self.last_good.is_some() => return Err(ConfigFault::Gone),
            Ok(None) => return Ok(ParsedConfig::default()),
            Ok(Some(bytes)) => match std::str::from_utf8(bytes) {
                Ok(text) => text,
                Err(_) => return Err(ConfigFault::Unreadable("it isn’t UTF-8 text".to_owned())),
            },
        };
        if text.trim().is_empty() {
            return Err(ConfigFault::Empty);
        }
        let whole = ParsedConfig::parse(text)?;
        // Where something stood behind the last line before, that line alone does not say that all is here.
        let is_sealed = has_end_marker(text) && self.has_sealed_copy();
        match is_sealed || self.keeps_all_settings(text, &whole) {
            true => Ok(whole),
            false => Err(ConfigFault::Cut),
        }
    }

    /// Whether the copy, if there is one, ends with [`END_MARKER`].
    pub(super) fn has_sealed_copy(&self) -> bool {
        self.last_good.as_deref().is_none_or(has_end_marker)
    }

    /// The file, where it is text.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(self.file.as_ref().ok()?.as_deref()?).ok()
    }

    /// The choices of the user. Settings that cannot be read cannot be chosen.
    pub(super) fn choices(&self) -> Vec<SettingsChoice> {
        let mut choices = Vec::new();
        if self.parse_complete().is_ok() {
            return choices;
        }
        if let Ok(Some(bytes)) = &self.file
            && let Ok(text) = std::str::from_utf8(bytes)
            && !text.trim().is_empty()
            && ParsedConfig::parse(text).is_ok()
        {
            choices.push(SettingsChoice::File);
        }
        if self.parse_last_good().is_some() {
            choices.push(SettingsChoice::LastGood);
        }
        choices.push(SettingsChoice::Defaults);
        choices
    }

    /// The settings of the last file that was whole.
    pub(super) fn parse_last_good(&self) -> Option<ParsedConfig> {
        let text = self.last_good.as_deref().filter(|text| !text.trim().is_empty())?;
        ParsedConfig::parse(text).ok()
    }

    /// Whether a file without [`END_MARKER`] has all that was there before.
    fn keeps_all_settings(&self, text: &str, now: &ParsedConfig) -> bool {
        if !text.ends_with('\n') {
            return false;
        }
        let Some(before) = &self.last_good else { return true };
        let is_beginning = text.len() < before.len() && before.starts_with(text);
        let Some(last) = self.parse_last_good() else { return false };
        !is_beginning
            && has_keys_of(now.document.as_table(), last.document.as_table())
            && now.keeps_rules_of(&last)
    }

    /// Whether a private rule of `whole`, which the file says, could be cut off later and nobody would miss
    /// it.
    pub(super) fn has_new_rules(&self, whole: &ParsedConfig) -> bool {
        !self.parse_last_good().unwrap_or_default().keeps_rules_of(whole)
    }
}

impl Default for ParsedConfig {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            private: PrivateRules::default(),
            document: DocumentMut::new(),
        }
    }
}

impl ParsedConfig {
    /// Reads what a file says; one mistake in it, and nothing of it counts.
    pub(super) fn parse(text: &str) -> Result<Self, ConfigFault> {
        let lines = text.split_inclusive('\n').filter(|line| line.trim() != END_MARKER);
        let text: String = lines.collect();
        let unreadable = |error: &dyn std::fmt::Display| ConfigFault::Unreadable(one_line(error));
        let document = text.parse::<DocumentMut>().map_err(|error| unreadable(&error))?;
        if let Some(misspelled) = find_misspelled_key(document.as_table()) {
            return Err(ConfigFault::Unreadable(misspelled.fault()));
        }
        let settings: Settings =
            toml_edit::de::from_str(&text).map_err(|error| unreadable(&error))?;
        // Which provider is asked depends on the keys at hand: one's key and the notes would go to a server that
        // is meant for another.
        if settings.provider == ProviderKind::Automatic && !settings.base_url.trim().is_empty() {
            return Err(ConfigFault::Unreadable(
                "`baseUrl` needs the provider of its server; set `provider` too".to_owned(),
            ));
        }
        let private = PrivateRules::parse(&settings.private).map_err(|error| unreadable(&error))?;
        Ok(Self { settings, private, document })
    }

    /// Whether the user declared of another server than the selected one that it runs its models on this computer.
    pub(super) fn marks_server_of(&self, old: &Settings) -> bool {
        let is_marked = |settings: &Settings| settings.private.endpoint_is_local;
        let server = |settings: &Settings| (settings.provider, settings.base_url.trim().to_owned());
        is_marked(old) && is_marked(&self.settings) && server(old) != server(&self.settings)
    }

    /// Whether each private rule of `other` is one of these.
    fn keeps_rules_of(&self, other: &Self) -> bool {
        let has =
            |rules: &[String], others: &[String]| others.iter().all(|one| rules.contains(one));
        let (rules, others) = (&self.settings.private, &other.settings.private);
        has(&rules.never, &others.never) && has(&rules.local, &others.local)
    }

    /// The file that says this, with its end.
    pub(super) fn to_text(&self) -> String {
        let mut text = self.document.to_string();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        format!("{text}{END_MARKER}\n")
    }
}

/// Whether the last line that is not blank is [`END_MARKER`], with its line break.
fn has_end_marker(text: &str) -> bool {
    let last = text.trim_end().lines().next_back();
    text.ends_with('\n') && last.is_some_and(|line| line.trim() == END_MARKER)
}

fn has_keys_of(now: &dyn TableLike, before: &dyn TableLike) -> bool {
    before.iter().all(|(key, had)| match (now.get(key), had.as_table_like()) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(has), Some(had)) => has.as_table_like().is_some_and(|has| has_keys_of(has, had)),
    })
}

/// The parser draws the place with several lines.
fn one_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "mode = \"read_only\"\n\n[private]\nnever = [\"Diary\", \"#secret\"]\n";

    fn judged(file: &str, last_good: Option<&str>) -> Result<usize, ConfigFault> {
        let file = Ok(Some(file.as_bytes().to_vec()));
        let found =
            ConfigOnDisk { file, last_good: last_good.map(str::to_owned), is_last_good: false };
        found.parse_complete().map(|whole| whole.settings.private.never.len())
    }

    fn sealed(text: &str) -> String {
        format!("{text}{END_MARKER}\n")
    }

    #[test]
    fn a_file_that_was_whole_counts_at_no_byte_where_it_is_cut() {
        let by_hand = RULES.to_owned();
        let appended = format!("{}[spending]\npaused = true\n", sealed(RULES));
        let ours = ParsedConfig::parse(RULES).expect("it is read").to_text();
        for text in [by_hand, appended, sealed(RULES), ours] {
            assert_eq!(judged(&text, Some(&text)), Ok(2), "the control: whole, it counts");
            for end in 0..text.len() {
                let cut = text.get(..end).expect("ASCII");
                assert!(judged(cut, Some(&text)).is_err(), "it counts when cut to {cut:?}");
            }
            let zeros = format!("{}\0\0\0", text.get(..text.len() - 3).expect("ASCII"));
            assert!(judged(&zeros, Some(&text)).is_err());
        }
    }

    #[test]
    fn a_cut_file_that_was_never_seen_whole_counts_only_where_a_line_ends() {
        let counts = |end: &usize| judged(&RULES[..*end], None).is_ok();
        let open: Vec<usize> = (0..RULES.len()).filter(counts).collect();
        // Nobody can tell: there is no file of before, and none of ours.
        assert_eq!(open, [19, 20, 30]);
    }

    #[test]
    fn what_is_changed_by_hand_counts_if_it_ends_or_lost_nothing() {
        let last = sealed(RULES);
        let counts = |text: &str| judged(text, Some(&last)).is_ok();
        assert!(counts(&sealed("[private]\n")), "a rule is taken out, the end is there");
        assert!(counts(&format!("{last}[hub]\nname = \"Mine\"\n")), "something is appended");
        assert!(counts(&RULES.replace("read_only", "auto").replace("[\"D", "[\"x\", \"D")));
        assert!(!counts(&RULES.replace("mode = \"read_only\"\n", "theme = \"dark\"\n")));
        assert!(!counts(&RULES.replace("\"Diary\", ", "")), "a rule is missing, and the end");
        assert!(!counts("mode = \"auto\"\n[private]\n"));
    }

    #[test]
    fn what_cannot_be_understood_counts_for_nothing() {
        for text in [
            "mode = \"yolo\"\n",
            "mode = 3\n",
            "mode = [oops\n",
            "[private]\nnever = \"Diary\"\n",
            "[private]\nnever = [\"Diary\", 3]\n",
            "[private]\nlocal = [\"Diary\", [\"Work\"]]\n",
            "[private]\nnevr = [\"Diary\"]\n",
            "[private]\nnever = [\"../elsewhere\"]\n",
            "private = [\"Diary\"]\n",
            "[Private]\nnever = [\"Diary\"]\n",
            "mode = \"auto\"\nnever = [\"Diary\"]\n",
            "mode = \"auto\"\nmode = \"auto\"\n",
        ] {
            let judged = judged(&sealed(text), None);
            assert!(matches!(judged, Err(ConfigFault::Unreadable(_))), "{text}: {judged:?}");
        }
        let bytes = |file| {
            ConfigOnDisk { file, last_good: None, is_last_good: false }.parse_complete().err()
        };
        assert!(matches!(bytes(Ok(Some(b"# \xff\n".to_vec()))), Some(ConfigFault::Unreadable(_))));
        assert_eq!(bytes(Err("denied".into())), Some(ConfigFault::Unreadable("denied".into())));
        assert_eq!(bytes(Ok(Some(b" \n".to_vec()))), Some(ConfigFault::Empty));
        assert_eq!(bytes(Ok(None)), None, "the first start");
        let gone =
            ConfigOnDisk { file: Ok(None), last_good: Some(sealed(RULES)), is_last_good: false };
        assert_eq!(gone.parse_complete().err(), Some(ConfigFault::Gone));
    }
}
