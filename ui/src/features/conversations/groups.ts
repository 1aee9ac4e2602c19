/** The conversation list in its groups: what needs the user first, then by the day. */
import type { Conversation } from '../../ipc/bindings';

export type GroupName = 'needs' | 'today' | 'yesterday' | 'week' | 'older';

interface ConversationGroup {
  readonly name: GroupName;
  readonly conversations: readonly Conversation[];
}

const order: readonly GroupName[] = ['needs', 'today', 'yesterday', 'week', 'older'];
const dayLength = 24 * 60 * 60 * 1000;

/** Whether a conversation needs attention. */
export function needsUser(conversation: Conversation): boolean {
  const { waitingQuestion, waitingNotes, interrupted, held } = conversation;
  return waitingQuestion !== null || waitingNotes > 0 || interrupted || held > 0;
}

/** The groups that are not empty, in the order they are shown. Archived conversations are among them
 * only while they need attention. */
export function groups(conversations: readonly Conversation[], now: Date): ConversationGroup[] {
  return order
    .map((name) => ({
      name,
      conversations: conversations.filter((row) => groupOf(row, now) === name),
    }))
    .filter((group) => group.conversations.length > 0);
}

function groupOf(conversation: Conversation, now: Date): GroupName | null {
  if (needsUser(conversation)) return 'needs';
  if (conversation.archived) return null;
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  if (conversation.updatedAt >= midnight) return 'today';
  if (conversation.updatedAt >= midnight - dayLength) return 'yesterday';
  if (conversation.updatedAt >= midnight - 6 * dayLength) return 'week';
  return 'older';
}
