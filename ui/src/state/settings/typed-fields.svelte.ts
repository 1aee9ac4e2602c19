/** Texts that were typed into the fields of the settings and are not saved. */
import { SvelteMap } from 'svelte/reactivity';

interface TypedField {
  readonly text: string;
  /** Whether it is on its way. */
  readonly saving: boolean;
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

  write(name: string, text: string): void {
    this.#fields.set(name, { text, saving: false, refusal: null });
  }

  /** Whether the user wrote into a field since its text was sent last. */
  isUnsent(name: string): boolean {
    const field = this.#fields.get(name);
    return field !== undefined && !field.saving && field.refusal === null;
  }

  /** The field shows what is saved. */
  drop(name: string): void {
    this.#fields.delete(name);
  }

  /** Saves the text of a field with `save`, which tells why it is refused. Then it is kept, across views too. */
  async save(
    name: string,
    text: string,
    save: (text: string) => Promise<string | null>,
  ): Promise<void> {
    const sent = { text, saving: true, refusal: null };
    this.#fields.set(name, sent);
    const refusal = await save(text);
    // The user may have gone on with it.
    if (this.#fields.get(name) !== sent) return;
    if (refusal === null) this.#fields.delete(name);
    else this.#fields.set(name, { text, saving: false, refusal });
  }
}
