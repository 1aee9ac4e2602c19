/** The texts around search results. */
import { m } from '../../messages/messages';
import { formatNumber } from '../../shared/i18n/format-number';
import type { Search, SearchFound, SearchKind, WordSearch } from '../../state/search/search.svelte';

export function kindName(kind: SearchKind): string {
  switch (kind) {
    case 'text':
      return m.search_text();
    case 'tags':
      return m.search_tags();
    case 'tasks':
      return m.search_tasks();
    case 'properties':
      return m.search_properties();
    case 'broken':
      return m.search_broken();
    default:
      return kind satisfies never;
  }
}

/** The name of the list that is open. */
export function wordSearchText(into: WordSearch): string {
  switch (into.type) {
    case 'tag':
      return m.search_tag_notes({ word: into.tag });
    case 'property':
      return m.search_property_of({ word: into.property });
    case 'value':
      return m.search_value_notes({ property: into.property, word: into.value });
    case 'broken_link':
      return m.search_broken_notes({ word: into.link });
    default:
      return into satisfies never;
  }
}

/** How much was found, and whether that is all; a screen reader hears it. */
export function summary(search: Search): string {
  const { found } = search;
  switch (found?.type) {
    case 'lines':
      return linesFound(search, found);
    case 'entries':
      if (found.entries.total === 0) return search.query ? noMatch(search) : noneOf(search);
      return [
        m.search_found_entries({ count: found.entries.total }),
        ...shownOf(found.entries.words.length, found.entries.total),
      ].join(' · ');
    case 'notes':
      return [
        m.search_found_notes({ count: found.notes.total }),
        ...shownOf(found.notes.notes.length, found.notes.total),
      ].join(' · ');
    case 'building':
      return m.search_building();
    case undefined:
      return search.problem || search.kind !== 'text' ? '' : m.search_idle();
    default:
      return found satisfies never;
  }
}

function linesFound(search: Search, { lines }: Extract<SearchFound, { type: 'lines' }>): string {
  const { cut } = lines;
  const more = cut === 'time' ? [m.search_cut_time()] : cut ? [m.search_cut_length()] : [];
  if (lines.lines === 0) {
    const none = search.kind === 'tasks' && !search.query ? m.search_no_tasks() : noMatch(search);
    return [none, ...more].join(' · ');
  }
  const count = { lines: lines.lines, notes: lines.files };
  const total = search.kind === 'tasks' ? m.search_found_tasks(count) : m.search_found(count);
  return [total, ...more].join(' · ');
}

/** Which list has nothing of what was typed, unless all notes were looked through. */
function noMatch({ kind, into }: Search): string {
  if (into || kind === 'text') return m.search_empty();
  return m.search_empty_list({ list: kindName(kind) });
}

function shownOf(shown: number, total: number): string[] {
  return shown < total ? [m.search_shown({ count: formatNumber(shown) })] : [];
}

function noneOf({ kind, into }: Search): string {
  if (into) return m.search_empty();
  switch (kind) {
    case 'tags':
      return m.search_no_tags();
    case 'properties':
      return m.search_no_properties();
    case 'broken':
      return m.search_no_broken();
    case 'text':
    case 'tasks':
      return m.search_empty();
    default:
      return kind satisfies never;
  }
}
