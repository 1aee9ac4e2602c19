//! The side that is asked: the real application in a process of its own. A question is a line, its
//! answer another one, a list in JSON.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use ::index::{GrepQuery, Index};
use app::{App, DataDir};
use protocol::notes::query::{NoteCriterion, PatternKind, TextSearch};
use protocol::{ChangeSet, NotePath, PrivateRules, ProviderKind, Settings};
use tokio::runtime::Runtime;
use vault::{Vault, VaultChange};

/// Opens the notes and answers until there are no more questions, then closes them.
pub fn serve(data: &Path, notes: &Path) {
    let runtime = Runtime::new().expect("a runtime");
    let app = runtime.block_on(async {
        let app = App::start(DataDir::at(data.to_owned()).expect("a data directory"));
        let provider = ProviderKind::Commands;
        app.save_settings(Settings { provider, ..Settings::default() }).await.expect("saved");
        app.open_vault(notes).await.expect("the vault opens");
        app
    });
    answer_each_line(|kind, words| runtime.block_on(answer_question(&app, kind, words)));
    assert_eq!(runtime.block_on(app.shutdown()), 0, "every task comes home");
}

/// A control: follows the single files that are told and nothing else, so what is lost stays lost.
pub fn serve_without_rescan(cache: &Path, notes: &Path) {
    let runtime = Runtime::new().expect("a runtime");
    let vault = Vault::open(notes).expect("the vault opens");
    let index = Index::new(&vault, PrivateRules::default(), cache);
    let heard = Arc::new(AtomicUsize::new(0));
    let (followed, counted, mut watch) =
        (index.clone(), Arc::clone(&heard), vault.watch().expect("a watch"));
    runtime.spawn(async move {
        while let Some(changed) = watch.next().await {
            match changed {
                VaultChange::Notes(files) => followed.refresh(&files),
                VaultChange::Everything => {
                    // The first says that the watch stands.
                    if counted.load(Ordering::SeqCst) == 0 {
                        followed.catch_up(&AtomicBool::new(false)).expect("it is built");
                    }
                    counted.fetch_add(1, Ordering::SeqCst);
                }
                VaultChange::Replaced(_)
                | VaultChange::Gone
                | VaultChange::Back
                | VaultChange::Late { .. } => {}
            }
        }
    });
    answer_each_line(|kind, words| match kind {
        "state" => vec!["building"; usize::from(!index.coverage().is_ready)]
            .into_iter()
            .map(str::to_owned)
            .collect(),
        "lost" => vec![heard.load(Ordering::SeqCst).to_string()],
        _ => {
            let query = GrepQuery {
                pattern: ::index::escape_literal(words),
                file_pattern: None,
                context_lines: 0,
                max_results: 200,
                max_per_note: 5,
                case_sensitive: true,
            };
            let found = index.search(&vault, &ChangeSet::default(), &query, QUERY_DEADLINE);
            found.expect("it searches").hits.iter().map(|hit| hit.path.to_string()).collect()
        }
    });
}

const QUERY_DEADLINE: Duration = Duration::from_secs(30);

fn answer_each_line(mut answer: impl FnMut(&str, &str) -> Vec<String>) {
    let mut out = std::io::stdout();
    for line in std::iter::once(Ok("state".to_owned())).chain(std::io::stdin().lines()) {
        let line = line.expect("a line");
        let (kind, words) = line.split_once(' ').unwrap_or((&line, ""));
        let answer = serde_json::to_string(&answer(kind, words)).expect("a list");
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("somebody listens");
    }
}

async fn answer_question(app: &App, kind: &str, words: &str) -> Vec<String> {
    match kind {
        "literal" => literal_search(app, words).await.0,
        "count" => literal_search(app, words).await.1,
        "find" => {
            let passages = app.find_passages(words).await.expect("it finds");
            passages.into_iter().map(|passage| passage.path.to_string()).collect()
        }
        "names" => {
            let found = app.find_names(words).await.expect("it finds");
            found.names.into_iter().map(|named| named.path.to_string()).collect()
        }
        "tag" => {
            let having = NoteCriterion::Tag { tag: words.to_owned() };
            let notes = app.notes_matching(having).await.expect("it lists");
            notes.into_iter().flat_map(|list| list.notes).map(|path| path.to_string()).collect()
        }
        "tags" => {
            let tags = app.list_tags("").await.expect("it lists");
            let tags = tags.into_iter().flat_map(|tags| tags.words);
            tags.map(|tag| format!("{} {}", tag.word, tag.notes)).collect()
        }
        "read" => {
            let note = app.read_note(NotePath::parse(words).expect("a path")).await;
            note.into_iter().map(|note| note.content.text).collect()
        }
        "state" => index_progress(app).await,
        _ => panic!("nobody knows how to answer {kind}"),
    }
}

/// The notes with lines that match, and the numbers: lines, notes, and `cut` if it was.
async fn literal_search(app: &App, words: &str) -> (Vec<String>, Vec<String>) {
    let request =
        TextSearch { pattern: words.into(), meaning: PatternKind::Literal, case_sensitive: true };
    let found = app.search_text(request).await.expect("it searches");
    let cut = found.cut.map(|cut| format!("{cut:?}"));
    let numbers = [found.lines.to_string(), found.files.to_string()].into_iter().chain(cut);
    let numbers = numbers.collect();
    (found.notes.into_iter().map(|note| note.path.to_string()).collect(), numbers)
}

/// How far the index is: files done and files in all; nothing once it stands.
async fn index_progress(app: &App) -> Vec<String> {
    let snapshot = app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    let building = snapshot.vault.and_then(|vault| vault.indexing);
    building.into_iter().flat_map(|far| [far.done, far.all]).map(|far| far.to_string()).collect()
}
