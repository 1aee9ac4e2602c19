/** A sentence about the sources that were read before changes were proposed. */
import type { Source } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { noteLabel } from '../../state/notes/note-path';

/** More are counted. */
const most = 5;

export function sourceText(sources: readonly Source[]): string {
  const named = sources.slice(0, most).map(sourceName).join(', ');
  const more = sources.length - most;
  return more > 0 ? m.review_after_more({ named, count: more }) : m.review_after({ named });
}

function sourceName(source: Source): string {
  if (source === 'hub') return m.review_from_hub();
  if (source === 'foreign') return m.review_from_elsewhere();
  return noteLabel(source.replace(/^note:/, ''));
}
