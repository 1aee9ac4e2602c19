/** Groups the blocks of a text, so that only the last group is compared while the text grows. */

interface Part {
  readonly source: string;
  /** Whether it is still being written. */
  readonly open: boolean;
}

type BlockGroup = readonly Part[];

/** The number of blocks in a group. */
const size = 16;

/** One text's. */
export class BlockGroups {
  #groups: readonly BlockGroup[] = [];

  /** A group whose blocks are all as they were before is the same one. */
  of(blocks: readonly string[], streaming: boolean): readonly BlockGroup[] {
    const last = streaming ? blocks.length - 1 : -1;
    const groups: BlockGroup[] = [];
    for (let from = 0; from < blocks.length; from += size) {
      const before = this.#groups[groups.length] ?? [];
      const parts = blocks
        .slice(from, from + size)
        .map((source, at) => kept(before[at], { source, open: from + at === last }));
      const same = parts.length === before.length && parts.every((part, at) => part === before[at]);
      groups.push(same ? before : parts);
    }
    this.#groups = groups;
    return groups;
  }
}

function kept(before: Part | undefined, part: Part): Part {
  return before?.source === part.source && before.open === part.open ? before : part;
}
