/** Sentences of the Rust sources that never stand in the window: every other sentence there has a translation. */
import type { SentenceTemplate } from './sources';

/** Where sentences for the window are worded. What the terminal says is in `crates/cli`. */
export const folders = [
  ...['app', 'llm', 'vault', 'store', 'hub', 'protocol', 'index', 'desktop'].map(
    (crate) => `crates/${crate}/src`,
  ),
  'src-tauri/src',
  // The replies where there is no model.
  'crates/tools/src/commands',
  'crates/tools/src/read_tools/find_notes.rs',
] as const;

/** Files and folders whose texts are for another reader. */
const files: Readonly<Record<string, readonly string[]>> = {
  models: [
    'crates/app/src/chat/prompt.rs',
    'crates/app/src/chat/prompt/',
    'crates/app/src/adapters/archive.rs',
    'crates/app/src/adapters/active_note.rs',
    'crates/app/src/adapters/questions.rs',
    'crates/app/src/privacy/',
    'crates/app/src/notes/sent_note.rs',
    'crates/app/src/workspace/interrupted_call.rs',
    'crates/app/src/privacy/provenance.rs',
    'crates/index/src/links/',
    'crates/llm/src/compaction/',
    'crates/llm/src/hub_description.rs',
    'crates/llm/src/titles.rs',
    'crates/llm/src/text_tools/',
    'crates/llm/src/context/truncate.rs',
    'crates/llm/src/context/model_texts.rs',
    'crates/llm/src/tool_api/page_marks.rs',
    'crates/store/src/turns/tool_call.rs',
    'crates/vault/src/read/listing.rs',
  ],
  'the servers of models': [
    'crates/llm/src/providers/anthropic.rs',
    'crates/llm/src/providers/anthropic/wire.rs',
    'crates/llm/src/transport/http/error_body.rs',
    'crates/llm/src/providers/function_tool.rs',
    'crates/llm/src/providers/ollama.rs',
    'crates/llm/src/providers/ollama/wire.rs',
    'crates/llm/src/providers/openai.rs',
    'crates/llm/src/providers/openai/wire.rs',
  ],
  'names that other programs give to copies': ['crates/protocol/src/notes/conflict_copy.rs'],
  'the hub': [
    'crates/app/src/hub/outbox.rs',
    'crates/hub/src/handle.rs',
    'crates/hub/src/wire.rs',
    'crates/hub/src/wire/',
  ],
  'files of the user and of the desktop': [
    'crates/app/src/changes/diff.rs',
    'crates/app/src/chat/export/markdown.rs',
    'crates/desktop/src/autostart.rs',
    'crates/vault/src/apply/system_trash.rs',
  ],
  'whoever starts the program in a terminal': [
    'crates/app/src/workspace/vault_registry/adopt.rs',
    'crates/app/src/hub/token_source.rs',
    'src-tauri/src/launch_args.rs',
    'src-tauri/src/lib.rs',
    'src-tauri/src/portal_workaround.rs',
  ],
  'mail programs': ['crates/app/src/notes/mentions/forwarded_mail.rs'],
  'whoever writes the program': ['crates/llm/src/tool_api/registry.rs'],
};

/** Texts in other files that are for another reader, or names that no language changes. */
const words: readonly string[] = [
  // Models.
  "The user stopped in the middle. Done: {0}. The rest waits for the user's review.",
  'The program was interrupted; {made}nobody can tell whether {tool} changed {0}. Read before you change it again.',
  '{tool} had changed {0}.',
  'The program was interrupted; {tool} had changed {0}.',
  'the change that {tool} planned before an interruption',
  'The program was interrupted before {tool} did anything.',
  'Answer with the one word: ready',
  'Are you there?',
  'Attached file:',
  '(withheld: it comes from a note that is private)',
  'No',
  'Nothing',
  'No note matches “{query}”.{cut}\nNone of its words is in a name, a heading or the text of a note. Try other words{0}.',
  ', or list_files',
  '{matching}; the {order} {shown}:{cut}',
  'There is nothing to look for.\nGive a few words in `query`, or one of `folder`, `tags`, `property` and `linked_to`.',
  'No note has all that was asked for.{cut}\nLeave out one of the filters.',
  'Finds notes by a few words. Begin here.',
  ' The time was up before all notes were looked at.',
  'in its name',
  'in an alias',
  'in a heading',
  'in the text',
  'in its properties',
  '\n\n`{0}` line {1}',
  ', under “{heading}”',
  // Commands, as they are typed in every language.
  'append TEXT to NOTE',
  'delete NOTE',
  'find WORDS',
  'links NOTE',
  'list [FOLDER or PATTERN]',
  'move NOTE to PLACE',
  'new NOTE: TEXT',
  'open NOTE',
  'replace OLD with NEW in NOTE',
  'tags [TEXT]',
  'tasks [TEXT]',
  ' to',
  ' in',
  ' with',
  // The log.
  'store the planned changes of notes',
  // The hub.
  'Busy: too many messages wait already. Try again later.',
  'Busy: an earlier message with this id isn’t finished. Try again later.',
  'Not saved: another message came under this id just now. Send it again with an id of its own.',
  'Not saved: {0}',
  'Not saved. Open Vaultmate to see why.',
  'Interrupted after changing {name}. Look at it in Vaultmate.',
  'Interrupted. Vaultmate can’t tell whether {name} changed. Look at it in Vaultmate.',
  'a note',
  'some notes',
  'Bearer {token}',
  'Keeps my notes: remembers things, adds to lists, answers from notes.',
  // The settings file, where it stands as it is.
  '# End of the settings. Keep this line last: without it they may count as cut off.',
  // Servers of models.
  'tunnel error: proxy authorization required',
  '{0} at {1}',
  // Names.
  'LM Studio',
  'Sample notes',
  'Inbox, {0}',
];

/** Whether somebody may read it in the window. */
export function isForTheWindow({ file, text, says }: SentenceTemplate): boolean {
  const isElsewhere = Object.values(files)
    .flat()
    .some((path) => file.startsWith(path));
  return says && !isElsewhere && !words.includes(text);
}

/** Entries that no source contains any more. */
export function outdated(all: readonly SentenceTemplate[]): string[] {
  const paths = Object.values(files).flat();
  return [
    ...paths.filter((path) => !all.some(({ file }) => file.startsWith(path))),
    ...words.filter((text) => !all.some((one) => one.says && one.text === text)),
  ];
}
