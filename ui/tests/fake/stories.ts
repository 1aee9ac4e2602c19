/** The stories that the fake application can play, by name. */
import {
  closing,
  full,
  fullWorking,
  noStart,
  paused,
  refused,
  removed,
  archived,
  summed,
  vaultTrouble,
} from './stories/interruptions';
import { changes, unsureChanges } from './stories/changes/changes';
import { moves } from './stories/changes/moves';
import { equal, review, sixty } from './stories/changes/review';
import { held } from './stories/chat/approvals';
import { chat, longChat } from './stories/chat/chat';
import { commands } from './stories/chat/commands';
import { question } from './stories/chat/question';
import { offered, queue, regenerated } from './stories/chat/regenerate';
import { failed, interrupted, limited, over, retired } from './stories/chat/turn-ends';
import {
  emptyVault,
  firstRun,
  lockedKeyring,
  lostVault,
  refusedKey,
  unknownKeyring,
} from './stories/first-run';
import { images } from './stories/images';
import { indexing, search } from './stories/search';
import { settingsCutOff, trouble, working } from './stories/trouble';
import type { Story } from './story';

export const stories: Readonly<Record<string, () => Story>> = {
  regenerated,
  changes,
  'changes-unsure': unsureChanges,
  chat,
  closing,
  commands,
  'empty-vault': emptyVault,
  equal,
  failed,
  'first-run': firstRun,
  'first-run-refused': refusedKey,
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
  images,
  question,
  queue,
  refused,
  removed,
  retired,
  review,
  search,
  archived,
  sixty,
  summed,
  'settings-cut-off': settingsCutOff,
  trouble,
  'vault-trouble': vaultTrouble,
  working,
};
