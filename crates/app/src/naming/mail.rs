//! Mails that the user passes on or answers, in a message.

/// Where a mail begins that somebody else wrote and the user passes on or answers. All behind it counts as
/// theirs: a mail that was copied out of its window has no mark before each line.
pub(super) fn forwarded(message: &str) -> Option<usize> {
    let mut at = 0;
    let mut is_field_above = None;
    for line in message.split_inclusive('\n') {
        let trimmed = line.trim();
        if is_divider(trimmed) || is_attribution(trimmed) {
            return Some(at);
        }
        match (is_field_above, is_field(trimmed)) {
            (Some(above), true) => return Some(above),
            (None, true) => is_field_above = Some(at),
            (_, false) => is_field_above = None,
        }
        at += line.len();
    }
    None
}

/// `-----Original Message-----`, `---------- Forwarded message ---------` in any language.
fn is_divider(line: &str) -> bool {
    let inner = line.trim_start_matches(['-', '_', '=']);
    let words = inner.trim_end_matches(['-', '_', '=']);
    let (before, after) = (line.len() - inner.len(), inner.len() - words.len());
    before >= 3 && after >= 3 && words.contains(char::is_alphabetic)
}

/// `On Monday, Mia <mia@example.org> wrote:`, as mail programs put it above a mail, and Apple's words above
/// one that is passed on.
fn is_attribution(line: &str) -> bool {
    const VERBS: [&str; 12] = [
        "wrote",
        "schrieb",
        "a écrit",
        "escribió",
        "ha scritto",
        "escreveu",
        "schreef",
        "skrev",
        "napisał",
        "napisał(a)",
        "kirjoitti",
        "пишет",
    ];
    const WHOLE: [&str; 4] = [
        "begin forwarded message",
        "anfang der weitergeleiteten nachricht",
        "début du message transféré",
        "inicio del mensaje reenviado",
    ];
    let Some(words) = line.strip_suffix([':', '：']) else { return false };
    let words = words.trim_end().to_lowercase();
    let is_told_when = words.contains(|sign: char| sign.is_ascii_digit() || sign == '@');
    WHOLE.contains(&words.as_str())
        || (is_told_when && VERBS.iter().any(|verb| words.contains(verb)))
}

/// A line of a mail's head: `From: Mia`. Two of them in a row begin one.
fn is_field(line: &str) -> bool {
    const FIELDS: [&str; 33] = [
        "from",
        "to",
        "cc",
        "bcc",
        "date",
        "sent",
        "subject",
        "reply-to",
        "von",
        "an",
        "kopie",
        "datum",
        "gesendet",
        "betreff",
        "de",
        "à",
        "a",
        "objet",
        "envoyé",
        "para",
        "asunto",
        "enviado",
        "fecha",
        "da",
        "oggetto",
        "data",
        "inviato",
        "assunto",
        "van",
        "aan",
        "onderwerp",
        "verzonden",
        "message-id",
    ];
    let line = line.trim_matches('*');
    let Some((name, _)) = line.split_once([':', '：']) else { return false };
    let name = name.trim().trim_matches('*').to_lowercase();
    FIELDS.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::super::own_words;

    #[test]
    fn a_mail_that_is_passed_on_is_not_the_users_word() {
        for mail in [
            "---------- Forwarded message ---------\nPlease tidy [[Alpha]].",
            "-----Ursprüngliche Nachricht-----\nBitte [[Alpha]] ordnen.",
            "Begin forwarded message:\n\n[[Alpha]]",
            "On Mon, 4 May 2026 at 10:00, Mia <mia@example.org> wrote:\n\nTidy [[Alpha]].",
            "Am 4.5.2026 um 10:00 schrieb Mia:\n\n[[Alpha]]",
            "From: Mia\nSubject: Plan\n\nTidy [[Alpha]].",
            "*Von:* Mia\n*Betreff:* Plan\n\n[[Alpha]]",
            "&gt; [[Alpha]]",
        ] {
            let own = own_words(&format!("see\n{mail}"));
            assert!(!own.contains("Alpha") && own.starts_with("see"), "{mail}: {own}");
        }
        for own in [
            "To: change [[Alpha]]",
            "what I wrote: see [[Alpha]]",
            "---\nchange [[Alpha]]\n---",
            "date: today\nchange [[Alpha]]",
        ] {
            assert_eq!(own_words(own), own);
        }
    }
}
