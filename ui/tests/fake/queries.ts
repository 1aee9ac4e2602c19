/** Lookups in a story, for the fake application. */
import type {
  AssistantLines,
  CountedValue,
  CountedValues,
  LineMatch,
  LineMatches,
  LinkRepairs,
  MentionTarget,
  NameMatch,
  NameMatches,
  NoteAttribution,
  NoteLineMatches,
  NoteLinks,
  NoteList,
  NotePath,
  PrivateNote,
  TextSearch,
} from '../../src/ipc/bindings';

/** A story's facts besides the text of its notes. */
export interface QueryStory {
  /** Whether the index stands. */
  readonly stands: boolean;
  /** The note that each alias leads to. */
  readonly aliases: Readonly<Record<string, NotePath>>;
  readonly tags: readonly CountedValue[];
  readonly properties: readonly CountedValue[];
  readonly values: readonly CountedValue[];
  readonly broken: readonly CountedValue[];
  /** The notes whose names are nearest to those of broken links. */
  readonly near?: Readonly<Record<string, NotePath>>;
  readonly links: Readonly<Record<NotePath, NoteLinks>>;
  /** Images by the names of their files, as URLs that hold them. */
  readonly images?: Readonly<Record<string, string>>;
  /** Lines that the assistant wrote. */
  readonly marks?: Readonly<Record<NotePath, readonly AssistantLines[]>>;
  /** The targets that are kept from the model that answers: notes and folders, tags with their `#`, ids of conversations. */
  readonly private?: Readonly<Record<string, PrivateNote>>;
}

export const nothingKnown: QueryStory = {
  stands: true,
  aliases: {},
  tags: [],
  properties: [],
  values: [],
  broken: [],
  links: {},
};

/** As many names as the application shows. */
const mostNames = 50;

const noLinks: NoteLinks = { out: [], outTotal: 0, back: [], backTotal: 0, unclearLine: null };

export class FakeQueries {
  #notes: Readonly<Record<NotePath, string>>;
  readonly #story: QueryStory;
  readonly #repaired = new Set<string>();

  constructor(notes: Readonly<Record<NotePath, string>>, story: QueryStory) {
    this.#notes = notes;
    this.#story = story;
  }

  /** Its text; `undefined` where there is no such note. */
  note(path: NotePath): string | undefined {
    return this.#notes[path];
  }

  /** Somebody writes a note. */
  write(path: NotePath, text: string): void {
    this.#notes = { ...this.#notes, [path]: text };
  }

  /** The first of `Name 2`, `Name 3` … that is free. */
  freeLike(name: string): string {
    let number = 2;
    while (this.#notes[`${name} ${number}.md`] !== undefined) number += 1;
    return `${name} ${number}`;
  }

  names(query: string): NameMatches {
    const own = Object.keys(this.#notes).map((path) => [nameOf(path), path, false] as const);
    const others = Object.entries(this.#story.aliases).map(
      ([name, path]) => [name, path, true] as const,
    );
    const all = query ? [...own, ...others] : own;
    const folded = (text: string): string => text.normalize('NFC').toLowerCase();
    const names = all.flatMap(([name, path, alias]) => {
      // With a `/` folders count too.
      if (query.includes('/')) {
        const letters = [...query.trim()].map((letter) => letter.replace(/\W/, '\\$&'));
        const fits = new RegExp(letters.join('.*'), 'i').test(path);
        return fits ? [{ ...this.#named(path, name, alias), marks: [] }] : [];
      }
      const at = folded(name).indexOf(folded(query.trim()));
      if (at < 0) return [];
      const marks: [number, number][] = query.trim() ? [[at, at + query.trim().length]] : [];
      return [{ ...this.#named(path, name, alias), marks }];
    });
    // Of more the best are shown, and whether there are more.
    return { names: names.slice(0, mostNames), more: names.length > mostNames };
  }

  notesNamed(fileName: string): NameMatch[] {
    const composed = (path: string): string =>
      path.slice(path.lastIndexOf('/') + 1).normalize('NFC');
    const paths = Object.keys(this.#notes).filter((path) => composed(path) === composed(fileName));
    return paths.map((path) => ({ ...this.#named(path, nameOf(path), false), marks: [] }));
  }

  #named(path: NotePath, name: string, alias: boolean): Omit<NameMatch, 'marks'> {
    const called = Object.keys(this.#notes).filter((other) => nameOf(other) === nameOf(path));
    const link = called.length === 1 ? nameOf(path) : path.replace(/\.md$/, '');
    return { path, name, alias, link, private: this.privateNote(path) };
  }

  lines({ pattern, meaning, caseSensitive }: TextSearch): LineMatches {
    const source = meaning === 'literal' ? pattern.replace(/[^\w\s]/g, '\\$&') : pattern;
    return this.#found(expression(source, caseSensitive ? 'gu' : 'giu', pattern), (line) => line);
  }

  tasks(query: string): LineMatches | null {
    if (!this.#story.stands) return null;
    const task = /^\s*- \[ \] (.*)$/u;
    const wanted = (line: string): string | null => {
      const words = task.exec(line)?.[1] ?? null;
      return words?.toLowerCase().includes(query.toLowerCase()) ? words : null;
    };
    return this.#found(/^(?=.)/gu, wanted);
  }

  words(list: 'tags' | 'properties' | 'values' | 'broken', query: string): CountedValues | null {
    if (!this.#story.stands) return null;
    const part = query.replace(/^#/, '').toLowerCase();
    const words = this.#story[list].filter(
      ({ word }) =>
        word.toLowerCase().includes(part) && !(list === 'broken' && this.#repaired.has(word)),
    );
    return { words, total: words.length };
  }

  having(): NoteList | null {
    const notes = Object.keys(this.#notes).slice(0, 2);
    return this.#story.stands ? { notes, total: notes.length } : null;
  }

  /** The repairs on offer for a broken link. */
  repairs(link: string): LinkRepairs | null {
    if (!this.#story.stands) return null;
    const create = /\.(?!md$)[a-z]+$/i.test(link) ? null : `${link}.md`;
    return { create, instead: this.#story.near?.[link] ?? null };
  }

  /** From now on it leads somewhere. */
  repair(link: string): void {
    this.#repaired.add(link);
  }

  links(path: NotePath): NoteLinks | null {
    return this.#story.stands ? (this.#story.links[path] ?? noLinks) : null;
  }

  /** The story names the broken links, until somebody writes the note. */
  brokenAmong(links: readonly string[]): string[] | null {
    const there = Object.keys(this.#notes).map(nameOf);
    const named = this.#story.broken.map(({ word }) => word);
    const broken = named.filter((name) => !there.includes(name));
    return this.#story.stands ? links.filter((link) => broken.includes(nameOf(link))) : null;
  }

  /** For a missing image: a URL that holds none. */
  image(link: string): string {
    return this.#story.images?.[link.slice(link.lastIndexOf('/') + 1)] ?? 'data:,';
  }

  privateNote(path: NotePath): PrivateNote | null {
    return this.#story.private?.[path] ?? null;
  }

  privateMention(mention: MentionTarget): PrivateNote | null {
    if (mention.type === 'folder') return this.privateNote(mention.path);
    return this.privateNote(mention.type === 'tag' ? `#${mention.tag}` : mention.id);
  }

  marks(path: NotePath): NoteAttribution {
    return { text: this.#notes[path] ?? '', marks: [...(this.#story.marks?.[path] ?? [])] };
  }

  /** The lines of all notes that match, once `read` has told what of a line is shown. */
  #found(wanted: RegExp, read: (line: string) => string | null): LineMatches {
    const notes = Object.entries(this.#notes).flatMap(([path, text]): NoteLineMatches[] => {
      const lines = text.split('\n').flatMap((source, index): LineMatch[] => {
        const shown = read(source);
        const marks = [...(shown ?? '').matchAll(wanted)].map(
          ({ index: at, 0: found }): [number, number] => [at, at + found.length],
        );
        if (shown === null || marks.length === 0) return [];
        const visible = marks.filter(([start, end]) => end > start);
        return [{ line: index + 1, text: shown, marks: visible }];
      });
      return lines.length > 0 ? [{ path, lines }] : [];
    });
    const count = notes.reduce((sum, { lines }) => sum + lines.length, 0);
    return { notes, lines: count, files: notes.length, cut: null };
  }
}

function nameOf(path: NotePath): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/\.md$/, '');
}

function expression(source: string, flags: string, pattern: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch {
    const message = `“${pattern}” isn’t a valid regular expression: unclosed group. Fix it, or search for exact text.`;
    throw { code: 'pattern', message };
  }
}
