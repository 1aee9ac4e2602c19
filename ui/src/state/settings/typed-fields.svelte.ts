/** Texts that were typed into the fields of the settings and are not saved. */
import { SvelteMap } from 'svelte/reactivity';

/** A text that was sent, and what the user changed into it. */
interface SentText {
  readonly text: string;
  readonly base: string | SentText;
  refused: boolean;
}

interface TypedField {
  readonly text: string;
  /** The text that the user changed into this one: it is saved, or was sent. */
  readonly base: string | SentText;
  /** The text whose save is under way; `null` without one. */
  readonly saving: SentText | null;
  /** Why it was not saved, as a sentence; else `null`. */
  readonly refusal: string | null;
}

export class TypedFields {
  readonly #fields = new SvelteMap<string, TypedField>();

  /** The text of a field while it is not saved; else `null`. */
  text(name: string): string | null {
    return this.#fields.get(name)?.text ?? null;
  }

  /** Why the text of a field was refused; `null` where it was not, and once the user goes on with it. */
  refusal(name: string): string | null {
    return this.#fields.get(name)?.refusal ?? null;
  }

  /** The user typed `text` where `saved` is what is saved by now. */
  write(name: string, text: string, saved: string): void {
    this.#fields.set(name, { text, base: this.#base(name, saved), saving: null, refusal: null });
  }

  /** Whether the user wrote into a field since its text was sent last. */
  isUnsent(name: string): boolean {
    const field = this.#fields.get(name);
    return field !== undefined && field.saving === null && field.refusal === null;
  }

  /** The field shows what is saved. */
  drop(name: string): void {
    this.#fields.delete(name);
  }

  /** Saves the text of a field with `save`, which tells why it is refused. Then it is kept, across views too. `save` also
   * gets the text that the user changed: by now another one may be saved. */
  async save(
    name: string,
    text: string,
    saved: string,
    save: (text: string, base: string) => Promise<string | null>,
  ): Promise<void> {
    const base = this.#base(name, saved);
    const sent: SentText = { text, base, refused: false };
    this.#fields.set(name, { text, base, saving: sent, refusal: null });
    const refusal = await save(text, savedText(base));
    // The user may have gone on with a text that is not saved after all.
    sent.refused = refusal !== null;
    const field = this.#fields.get(name);
    if (field?.saving !== sent) return;
    if (refusal === null) this.#fields.delete(name);
    else this.#fields.set(name, { ...field, saving: null, refusal });
  }

  #base(name: string, saved: string): string | SentText {
    const field = this.#fields.get(name);
    if (field === undefined) return saved;
    return field.saving ?? field.base;
  }
}

/** The last text before a change that was not refused: it is saved, or on its way. */
function savedText(base: string | SentText): string {
  if (typeof base === 'string') return base;
  return base.refused ? savedText(base.base) : base.text;
}
