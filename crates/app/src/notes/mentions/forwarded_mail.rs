//! Mails that the user passes on or answers, in a message.

mod pasted_chat;

/// Where a mail or a chat of somebody else begins that the user forwards or answers. All behind it
/// counts as theirs: a mail that was copied out of its window has no mark before each line.
/// Programs word its head in every language, so shapes count more than words, and in doubt it is a
/// mail.
pub(super) fn forwarded_mail_start(message: &str) -> Option<usize> {
    let lines: Vec<&str> = message.split_inclusive('\n').collect();
    let begins = |at: usize| {
        let line = |number: usize| lines.get(number).map(|line| line.trim()).unwrap_or_default();
        let trimmed = line(at);
        is_divider(trimmed)
            || is_attribution(trimmed)
            || is_subject(trimmed)
            || pasted_chat::is_message(trimmed)
            || (at > 0
                && (is_reply(trimmed)
                    || pasted_chat::is_head(trimmed)
                    || pasted_chat::is_dated(trimmed)))
            || is_head([trimmed, line(at + 1), line(at + 2)])
            || is_tall_head([trimmed, line(at + 1), line(at + 2), line(at + 3)])
    };
    let first = (0..lines.len()).find(|at| begins(*at))?;
    Some(lines.iter().take(first).map(|line| line.len()).sum())
}

/// Whether these lines begin the head of a mail: two fields in a row that are known, or of which one has an
/// address; or three, whatever they are called.
fn is_head([one, two, three]: [&str; 3]) -> bool {
    let (Some(one), Some(two)) = (field(one), field(two)) else { return false };
    let are_known = is_known(&one.name) && is_known(&two.name);
    are_known
        || [&one, &two].iter().any(|field| field.value.contains('@'))
        || field(three).is_some()
}

/// The same where the values stand below the names.
fn is_tall_head([name, value, next, other]: [&str; 4]) -> bool {
    let bare = |line| field(line).filter(|field| field.value.is_empty());
    let (Some(name), Some(next)) = (bare(name), bare(next)) else { return false };
    let are_known = is_known(&name.name) && is_known(&next.name);
    field(value).is_none() && (are_known || value.contains('@') || other.contains('@'))
}

/// `-----Original Message-----`, `---------- Forwarded message ---------` in any language.
fn is_divider(line: &str) -> bool {
    let inner = line.trim_start_matches(['-', '_', '=']);
    let words = inner.trim_end_matches(['-', '_', '=']);
    let (before, after) = (line.len() - inner.len(), inner.len() - words.len());
    before >= 3 && after >= 3 && words.contains(char::is_alphabetic)
}

/// `On Monday, Mia <mia@example.org> wrote:`, as mail programs put it above a mail, and the line of
/// Apple's above a forwarded one.
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
        || words.rsplit_once('<').is_some_and(|(_, address)| address.contains('@'))
        || (is_told_when && VERBS.iter().any(|verb| words.contains(verb)))
}

/// The subject of a mail, in many languages: one such line is enough.
fn is_subject(line: &str) -> bool {
    const SUBJECTS: [&str; 22] = [
        "subject",
        "betreff",
        "objet",
        "asunto",
        "oggetto",
        "assunto",
        "onderwerp",
        "temat",
        "ämne",
        "emne",
        "předmět",
        "predmet",
        "konu",
        "тема",
        "aihe",
        "tárgy",
        "subiect",
        "θέμα",
        "件名",
        "主题",
        "主旨",
        "제목",
    ];
    field(line)
        .is_some_and(|field| !field.value.is_empty() && SUBJECTS.contains(&field.name.as_str()))
}

/// `Re: Plan`, without a name before it.
fn is_reply(line: &str) -> bool {
    const SIGNS: [&str; 9] = ["re", "aw", "fwd", "fw", "wg", "sv", "vs", "rv", "tr"];
    field(line).is_some_and(|field| SIGNS.contains(&field.name.as_str()))
}

/// A line such as `From: Mia`.
struct Field<'a> {
    name: String,
    value: &'a str,
}

/// The field that a line is, whatever it is called: up to three words without a digit, and a colon.
fn field(line: &str) -> Option<Field<'_>> {
    let line = line.trim_matches('*');
    let (name, value) = line.split_once([':', '：'])?;
    let name = name.trim().trim_matches('*').trim().to_lowercase();
    let is_word = |sign: char| sign.is_alphabetic() || matches!(sign, ' ' | '-' | '\'' | '’');
    let is_name = (1..=3).contains(&name.split_whitespace().count())
        && name.chars().all(is_word)
        && name.chars().any(char::is_alphabetic)
        && !value.starts_with("//");
    is_name.then(|| Field { name, value: value.trim().trim_matches('*').trim() })
}

/// The names of fields that one meets most.
fn is_known(name: &str) -> bool {
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
    FIELDS.contains(&name)
}

#[cfg(test)]
mod tests {
    use super::super::user_authored_text;

    #[test]
    fn a_forwarded_mail_is_not_the_users_own_text() {
        for mail in [
            "---------- Forwarded message ---------\nPlease tidy [[Alpha]].",
            "-----Ursprüngliche Nachricht-----\nBitte [[Alpha]] ordnen.",
            "Begin forwarded message:\n\n[[Alpha]]",
            "On Mon, 4 May 2026 at 10:00, Mia <mia@example.org> wrote:\n\nTidy [[Alpha]].",
            "Am 4.5.2026 um 10:00 schrieb Mia:\n\n[[Alpha]]",
            "From: Mia\nSubject: Plan\n\nTidy [[Alpha]].",
            "*Von:* Mia\n*Betreff:* Plan\n\n[[Alpha]]",
            "&gt; [[Alpha]]",
            "Od: Mia <mia@example.org>\nWysłano: 4 maja 2026 10:00\nDo: Jan\nTemat: Plan\n\n[[Alpha]]",
            "Från: Mia\nSkickat: den 4 maj 2026\nTill: Jan\n\n[[Alpha]]",
            "Kimden: Mia <mia@example.org>\nKonu: Plan\n\n[[Alpha]]",
            "От: Mia\nОтправлено: 4 мая 2026\nКому: Jan\n\n[[Alpha]]",
            "差出人: Mia\n送信日時: 2026年5月4日\n宛先: Jan\n\n[[Alpha]]",
            "发件人：Mia <mia@example.org>\n发送时间：2026年5月4日\n\n[[Alpha]]",
            "po 4. 5. 2026 v 10:00 odesílatel Mia <mia@example.org> napsal:\n\n[[Alpha]]",
            "Mia <mia@example.org> ezt írta (időpont: 2026. máj. 4., H, 10:00):\n\n[[Alpha]]",
            "Mia <mia@example.org> 于2026年5月4日周一 10:00写道：\n\n[[Alpha]]",
            "2026年5月4日(月) 10:00 Mia <mia@example.org>:\n\n[[Alpha]]",
            "On Mon, 4 May 2026 at 10:00, Mia Longname\n<mia@example.org> wrote:\n\n[[Alpha]]",
            "From:\nMia <mia@example.org>\nSent:\nMonday\nSubject:\nPlan\n\n[[Alpha]]",
            "Od:\nMia <mia@example.org>\nTemat:\nPlan\n\n[[Alpha]]",
            "Subject: Plan\n\nHi Jan,\ntidy [[Alpha]].",
            "Mia Smith\nMay 4, 2026 at 10:00\nTidy [[Alpha]].",
            "Mia Smith\nRe: Plan\n\n[[Alpha]]",
            "[04.05.26, 10:00:01] Mia: tidy [[Alpha]]",
            "04.05.26, 10:00 - Mia: tidy [[Alpha]]",
            "Mia, [4 May 2026 at 10:00:01]:\ntidy [[Alpha]]",
            "Mia  10:00 AM\nplease tidy [[Alpha]]",
            "Mia Smith — Today at 10:00\ntidy [[Alpha]]",
        ] {
            let own = user_authored_text(&format!("see\n{mail}"));
            assert!(!own.contains("Alpha") && own.starts_with("see"), "{mail}: {own}");
        }
        for own in [
            "To: change [[Alpha]]",
            "what I wrote: see [[Alpha]]",
            "---\nchange [[Alpha]]\n---",
            "date: today\nchange [[Alpha]]",
            "Please note: change [[Alpha]]\nand see https://example.org",
            "Today:\n[[Alpha]]\nTomorrow:\n[[Beta]]",
            "at 10:00 I changed [[Alpha]]\nand at 11:30 [[Beta]]",
            "Dentist 10:00, put it into [[Alpha]]\n- [ ] 10:00 [[Beta]]",
        ] {
            assert_eq!(user_authored_text(own), own);
        }
    }
}
