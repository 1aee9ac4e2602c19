/** The models that the composer offers. */
import type { ModelInfo } from '../../ipc/bindings';

/** More are a list to look through, which the settings have. */
const most = 6;

/** The first of those that are known, and in any case the one that answers; `''` is none. */
export function modelChoices(known: readonly ModelInfo[], answers: string): readonly ModelInfo[] {
  const first = known.slice(0, most);
  if (answers === '' || first.some(({ id }) => id === answers)) return first;
  const found = known.find(({ id }) => id === answers);
  return [
    found ?? { id: answers, name: null, window: null, maxOutput: null, price: null },
    ...first,
  ];
}
