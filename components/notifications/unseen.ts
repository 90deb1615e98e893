/** Notifications that a browser remembers to have seen: more than one page of them. */
const MAX_SEEN = 100;

type Identified = { run_id: string; task_id: string | null };

/** Returns what tells a notification apart from the others of a person. */
export const identityOf = ({ run_id, task_id }: Identified): string => `${run_id}/${task_id ?? ''}`;

/**
 * Separates the notifications (newest first) that this browser has not seen from the rest. Where it has seen none at all
 * (`seen` is null), those that are there already are old news. `seen` is what it has seen with these.
 */
export function separateUnseen<N extends Identified>(
  notifications: readonly N[],
  seen: readonly string[] | null,
): { unseen: N[]; seen: string[] } {
  const known = new Set(seen ?? []);
  const unseen = notifications.filter(each => !known.has(identityOf(each)));
  const all = [...unseen.map(identityOf), ...known].slice(0, MAX_SEEN);
  return { unseen: seen === null ? [] : unseen, seen: all };
}
