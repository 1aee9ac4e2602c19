/** The stories that the fake application can play, by name. */
import { anew, offered, queue } from './stories/again';
import {
  closing,
  full,
  fullWorking,
  noStart,
  paused,
  refused,
  removed,
  shelf,
  summed,
  vaultTrouble,
} from './stories/around';
import { changes, unsureChanges } from './stories/changes';
import { chat, longChat } from './stories/chat';
import { commands } from './stories/commands';
import { failed, interrupted, limited, over, retired } from './stories/ended';
import {
  emptyVault,
  firstRun,
  lockedKeyring,
  lostVault,
  unknownKeyring,
} from './stories/first-run';
import { held } from './stories/held';
import { moves } from './stories/moves';
import { pictures } from './stories/pictures';
import { question } from './stories/question';
import { equal, review, sixty } from './stories/review';
import { indexing, search } from './stories/search';
import { settingsCutOff, trouble, working } from './stories/trouble';
import type { Story } from './fake';

export const stories: Readonly<Record<string, () => Story>> = {
  anew,
  changes,
  'changes-unsure': unsureChanges,
  chat,
  closing,
  commands,
  'empty-vault': emptyVault,
  equal,
  failed,
  'first-run': firstRun,
  full: () => full(),
  'full-working': fullWorking,
  held,
  indexing,
  interrupted,
  'keyring-locked': lockedKeyring,
  'keyring-unknown': unknownKeyring,
  limited,
  'long-chat': longChat,
  'lost-vault': lostVault,
  moves,
  'no-start': noStart,
  offered,
  over,
  paused,
  pictures,
  question,
  queue,
  refused,
  removed,
  retired,
  review,
  search,
  shelf,
  sixty,
  summed,
  'settings-cut-off': settingsCutOff,
  trouble,
  'vault-trouble': vaultTrouble,
  working,
};
