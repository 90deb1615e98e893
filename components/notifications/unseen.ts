/** How many seen notifications a browser remembers: more than one page. */
const MAX_SEEN = 100;

type Identified = { run_id: string; task_id: string | null };

/** Returns a key that is unique among the notifications of a person. */
export const identityOf = ({ run_id, task_id }: Identified): string => `${run_id}/${task_id ?? ''}`;

/**
 * Returns the notifications (newest first) that this browser has not seen, and the updated list of seen keys. On the browser's
 * first visit (`seen` is null) all present notifications count as seen.
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
