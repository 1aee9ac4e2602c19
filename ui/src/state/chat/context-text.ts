/** Texts about the use of the context window. */
import type { ContextKind, ContextUse } from '../../ipc/bindings';
import { m } from '../../messages/messages';
import { formatNumber } from '../../shared/i18n/format-number';

/** Up to here nobody has to know, in percent. */
const calm = 80;

/** Percent of the window that is used, when that is more than anybody can stay calm about; else `null`. */
export function nearlyFullPercent(context: ContextUse | null): number | null {
  if (!context || context.used * 100 <= calm * context.window) return null;
  return Math.min(100, Math.floor((context.used * 100) / context.window));
}

/** An estimate: more than two digits would promise too much. */
export function approximateTokens(tokens: number): string {
  return formatNumber(Math.ceil(tokens / 100) * 100);
}

export function contextKindText(kind: ContextKind): string {
  switch (kind) {
    case 'instructions':
      return m.context_instructions();
    case 'summary':
      return m.context_summary();
    case 'messages':
      return m.context_messages();
    case 'tool_results':
      return m.context_tool_results();
    case 'open_turn':
      return m.context_open_turn();
    default:
      return kind satisfies never;
  }
}
