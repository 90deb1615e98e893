import type { ClientBase } from 'pg';
import type { Clock } from '../../platform/clock.ts';
import { MisconfiguredError } from '../../platform/postgres/startup-error.ts';
import { LEADER_LOCK, processLock } from './locks.ts';
import { holdLock, lockCluster, type NodeRow, readFacts, readSight, recordNode, writeFacts } from './member-queries.ts';
import { membersIn } from './sight.ts';

/**
 * The newest events of the log that this build can read; raised only when a release writes events that older ones cannot
 * fold.
 */
export const LEVEL = 1;

/** By the name of the variable that determines each; no secrets. */
export type Facts = ReadonlyMap<string, string>;

/** Another node is there at the same address. */
export class UrlTakenError extends MisconfiguredError {}

/**
 * Makes a node a member on its session, and returns the id of the deployment. The facts of the first node count for as long
 * as any is there; then those of the next. Throws MisconfiguredError for a node with other facts, or at the address of another.
 */
export async function join(
  db: ClientBase,
  node: NodeRow,
  { facts, clock, leaderLock = LEADER_LOCK }: { facts: Facts; clock: Clock; leaderLock?: number },
): Promise<string> {
  await db.query('BEGIN');
  try {
    await lockCluster(db);
    const { members } = membersIn(await readSight(db, leaderLock), leaderLock);
    const others = members.filter(({ id }) => id !== node.id);
    const known = await readFacts(db);
    const differing = [...facts].filter(([name, value]) => known.has(name) && known.get(name) !== value);
    if (others.length > 0 && differing.length > 0) throw otherFacts(differing.map(([name]) => name));
    const namesake = others.find(({ url }) => url === node.url);
    if (namesake !== undefined)
      throw new UrlTakenError(
        `Another node of the cluster is at ${node.url}: set BATON_NODE_URL to an address of this node alone.`,
      );
    await writeFacts(db, facts);
    await holdLock(db, processLock(node.id));
    await recordNode(db, node, clock.now());
    await db.query('COMMIT');
    const deploymentId = known.get('id') ?? (await readFacts(db)).get('id');
    if (deploymentId === undefined) throw new Error('the deployment has no id');
    return deploymentId;
  } catch (error) {
    await db.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

const otherFacts = (names: readonly string[]): MisconfiguredError =>
  new MisconfiguredError(
    `This node does not fit in with the nodes of the cluster that run: they have another ${names.join(' and another ')}. ` +
      'Set the same on every node; to change it, stop them all first.',
  );
