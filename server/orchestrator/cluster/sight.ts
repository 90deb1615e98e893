import type { Member } from '../ports/cluster.ts';
import { processLock } from './locks.ts';
import type { Sight } from './member-queries.ts';

/** A node asks the database every second, so one that has been quiet for longer is frozen, or its network is. */
const HEARD_WITHIN_MS = 3_000;

/** Returns the nodes that are there, and the ids of those whose rows are left from before. */
export function membersIn({ rows, locks }: Sight, leaderLock: number): { members: Member[]; gone: string[] } {
  const leading = new Set(
    locks.filter(lock => lock.exclusive && lock.key === BigInt(leaderLock)).map(({ pid }) => pid),
  );
  const members: Member[] = [];
  const gone: string[] = [];
  for (const row of rows) {
    const own = locks.filter(({ key }) => key === processLock(row.id));
    if (own.length === 0) {
      gone.push(row.id);
      continue;
    }
    const shards = locks.flatMap(({ pid, shard }) =>
      shard !== null && own.some(lock => lock.pid === pid) ? [shard] : [],
    );
    members.push({
      ...row,
      isLeading: shards.length > 0 || own.some(({ pid }) => leading.has(pid)),
      shards,
      isHeard: own.some(({ quietMs }) => quietMs === null || quietMs < HEARD_WITHIN_MS),
    });
  }
  return { members, gone };
}

/**
 * Returns by how many ms the clock of this process is ahead of the database's, which said `databaseMs` between `before`
 * and `after`; 0 if that is within the time that the question took.
 */
export function clockAhead(databaseMs: number, { before, after }: { before: number; after: number }): number {
  if (databaseMs < before) return before - databaseMs;
  return databaseMs > after ? after - databaseMs : 0;
}
