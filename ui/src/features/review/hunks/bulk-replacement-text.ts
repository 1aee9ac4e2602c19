/** The texts of a change that is the same in many notes. */
import { m } from '../../../messages/messages';
import type { IconName } from '../../../shared/components/icons';
import type { EqualChange } from '../../../state/review/equal-change';

interface ReplacementText {
  readonly icon: IconName;
  /** Its kind. */
  readonly title: string;
  /** The name in a list, and the text below it. */
  readonly name: string;
  readonly below: string;
  /** The removed and the added lines. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export function bulkReplacementText(change: EqualChange): ReplacementText {
  switch (change.type) {
    case 'swap': {
      const link = change.old.startsWith('[[');
      return {
        ...{ icon: link ? 'link' : 'pen', name: change.old },
        title: link ? m.review_same_link() : m.review_same_text(),
        below: m.review_same_everywhere({ new: change.new }),
        ...{ removed: [change.old], added: [change.new] },
      };
    }
    case 'property': {
      const line = `${change.name}: ${change.value}`;
      const of = { icon: 'list', title: m.review_same_property() } as const;
      return { ...of, name: line, below: m.review_same_set(), removed: [], added: [line] };
    }
    case 'values': {
      const line = (value: string): string => `${change.name}: ${value}`;
      const [removed, added] = [change.removed.map(line), change.added.map(line)];
      return exchangeText('list', m.review_same_property(), removed, added);
    }
    case 'lines': {
      const { properties, removed, added } = change;
      if (!properties) return exchangeText('pen', m.review_same_lines(), removed, added);
      return exchangeText('list', m.review_same_property(), removed, added);
    }
    default:
      return change satisfies never;
  }
}

function exchangeText(
  icon: IconName,
  title: string,
  removed: readonly string[],
  added: readonly string[],
): ReplacementText {
  const name = (added[0] ?? removed[0] ?? '').trim();
  return { icon, title, name, below: summaryLine(removed, added), removed, added };
}

function summaryLine(removed: readonly string[], added: readonly string[]): string {
  if (removed.length === 0) return m.review_same_added();
  return added.length === 0 ? m.review_same_removed() : m.review_same_changed();
}
