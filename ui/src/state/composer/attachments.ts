/** Turns a dropped or pasted file into a mention of the note that it is, or into an attached
 * text. A file that is no text, or too long, is refused with a sentence. */
import type { UserError } from '../../ipc/bindings';
import type { Host } from '../../ipc/host';
import { m } from '../../messages/messages';
import { formatSize } from '../../shared/i18n/format-size';
import type { Mention } from './mentions';

/** A longer text would crowd out the conversation: the user is asked to add it as a note instead. */
const longest = 64 * 1024;

export async function mentionFile(file: File, host: Host): Promise<Mention> {
  const { name } = file;
  const isNote = /\.(?:md|markdown)$/i.test(name);
  if (file.size > longest && !isNote)
    throw refused(m.attach_long({ name, most: formatSize(longest) }));
  const text = await file.text();
  if (isNote) {
    const note = await noteLike(name, text, host);
    if (note) return note;
  }
  if (file.size > longest) throw refused(m.attach_long({ name, most: formatSize(longest) }));
  // A file that is no text has characters that no text has.
  if (/[\0\uFFFD]/.test(text)) throw refused(m.attach_binary({ name }));
  if (text.trim() === '') throw refused(m.attach_empty({ name }));
  return { type: 'file', name, text: text.replaceAll('\r\n', '\n').replace(/\n$/, '') };
}

/** The window is not told where a file lies: it is the note of the same name with the same text, however many
 * notes have the name. The file's text comes without a byte order mark. */
async function noteLike(name: string, text: string, host: Host): Promise<Mention | null> {
  for (const { path, link, private: rule } of await host.notesNamed(name)) {
    const { content } = await host.readNote(path);
    if (withoutMark(content.text) !== withoutMark(text)) continue;
    if (rule !== null) throw refused(m.attach_private({ name }));
    return { type: 'note', path, link };
  }
  return null;
}

function withoutMark(text: string): string {
  return text.replace(/^\uFEFF/, '');
}

function refused(message: string): UserError {
  return { code: 'other', message };
}
