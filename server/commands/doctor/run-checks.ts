import type pg from 'pg';
import type { Config } from '../../operation/config.ts';
import { LEADER_LOCK } from '../../orchestrator/cluster/index.ts';
import { readSight, type Sight } from '../../orchestrator/cluster/member-queries.ts';
import { membersIn } from '../../orchestrator/cluster/sight.ts';
import { MAX_TIMEOUT_S } from '../../orchestrator/core/compile.ts';
import { MAX_LOAD_DEATHS } from '../../orchestrator/runtime/runs/load-suspects.ts';
import { type Finding, type Learned, ok, problem, warning } from './finding.ts';
import {
  countActive,
  look,
  readConnections,
  readForgotten,
  readOverdue,
  readQuarantined,
  readQuiet,
  type SomeRuns,
} from './queries.ts';

/** A leader asks after its session every 2.5 s, and gives it up after 7.5 s. */
const QUIET_LEADER_MS = 7_500;

/** Names the nodes of a cluster that are there. Also learns whether a process leads. */
export async function checkProcesses(db: pg.Client, cluster: Config['cluster']): Promise<Learned<boolean>> {
  const [sight, { ofBaton }] = await look(
    db,
    async tx => [await readSight(tx, LEADER_LOCK), await readConnections(tx)] as const,
  );
  // A process alone holds the lock of the leader; of the nodes of a cluster, the one that leads shard 0 does the jobs.
  const holder = sight.locks.find(
    ({ exclusive, key, shard }) => exclusive && (key === BigInt(LEADER_LOCK) || shard === 0),
  );
  const findings = [leaderFinding(holder, ofBaton)];
  if (cluster !== null || sight.rows.length > 0) findings.push(memberFinding(sight, cluster !== null));
  return { findings, learned: holder !== undefined };
}

function leaderFinding(holder: Sight['locks'][number] | undefined, ofBaton: number): Finding {
  if (holder === undefined)
    return ofBaton === 0
      ? problem('leader', 'No process of Baton runs on this database: no run advances.', 'Start Baton.')
      : problem(
          'leader',
          'Processes of Baton are connected, and none leads: no run advances.',
          'Read "reason" in /readyz of each.',
        );
  const facts = { pid: holder.pid, quiet_ms: holder.quietMs };
  if (holder.quietMs !== null && holder.quietMs > QUIET_LEADER_MS)
    return warning(
      'leader',
      `A process leads, and has not been heard of for ${Math.round(holder.quietMs / 1000)} s (session ${holder.pid}).`,
      'Another one takes over within 10 s; if not, look at its CPU and its network.',
      facts,
    );
  return ok('leader', `A process leads (session ${holder.pid}).`, facts);
}

function memberFinding(sight: Sight, isCluster: boolean): Finding {
  const { members } = membersIn(sight, LEADER_LOCK);
  const facts = { members };
  const text = members
    .map(({ url, version, leads, isLeading, isHeard }) => {
      const says = [version, isLeading ? 'leads' : leads ? '' : 'never leads', isHeard ? '' : 'is silent'];
      return `${url} (${says.filter(part => part !== '').join(', ')})`;
    })
    .join(', ');
  if (members.length === 0)
    return isCluster
      ? problem('nodes', 'BATON_CLUSTER is on, and no node is there.', 'Start the nodes.', facts)
      : ok('nodes', 'No node is there; some were before.', facts);
  const silent = members.filter(({ isHeard }) => !isHeard);
  if (silent.length > 0) return warning('nodes', text, 'Look at the machine and the network of the silent one.', facts);
  if (new Set(members.map(({ version }) => version)).size > 1)
    return warning('nodes', `${text}: they are of different versions.`, 'Finish the upgrade.', facts);
  return ok('nodes', `${members.length === 1 ? 'One node' : `${members.length} nodes`}: ${text}`, facts);
}

const OVERDUE_MS = 60_000;
/** An attempt takes MAX_TIMEOUT_S at most; a run that it called has events of its own. */
const QUIET_MS = (MAX_TIMEOUT_S + 3_600) * 1_000;

/**
 * Runs that break the promise "no stuck run" (docs/specification/runs.md): as long as a run has not ended, an attempt is in
 * flight, a timer is set, a task waits, or the run is paused. `nowMs`: the earlier of the two clocks. Without a leader
 * every timer is late, and the leader is the finding.
 */
export async function checkRuns(
  db: pg.Client,
  { nowMs, leads }: { nowMs: number; leads: boolean },
): Promise<Finding[]> {
  const { executing, blocked, paused } = await look(db, countActive);
  const found = await look(db, async tx => ({
    forgotten: await readForgotten(tx),
    quarantined: await readQuarantined(tx, MAX_LOAD_DEATHS),
    overdue: leads ? await readOverdue(tx, nowMs - OVERDUE_MS) : null,
    quiet: leads ? await readQuiet(tx, nowMs - QUIET_MS) : null,
  }));
  const findings = [
    stuck(
      found.forgotten,
      'waits, and no task is open and no timer is set',
      'wait, and no task is open and no timer is set',
      'Stop the run and rerun it; please report this.',
    ),
    stuck(
      found.quarantined,
      'is no longer loaded, because processes ended while they loaded it',
      'are no longer loaded, because processes ended while they loaded them',
      'Raise BATON_MEMORY_MIB, or stop and rerun.',
    ),
    stuck(
      found.overdue,
      'is overdue by a minute or more',
      'are overdue by a minute or more',
      'Look at the log of the leader, its CPU and its memory.',
    ),
    stuck(
      found.quiet,
      'has had no event for 25 hours',
      'have had no event for 25 hours',
      'Look at the log of the leader, its slots and its memory.',
    ),
  ].flatMap(finding => finding ?? []);
  const facts = { executing, blocked, paused };
  const text = `${executing} at work, ${blocked} waiting, ${paused} paused`;
  return findings.length > 0
    ? findings
    : [ok('runs', `${text}; ${leads ? 'none is stuck' : 'no process advances them'}.`, facts)];
}

function stuck(found: SomeRuns | null, one: string, many: string, advice: string): Finding | null {
  if (found === null || found.count === 0) return null;
  const named = found.runs.map(({ id, workspace }) => `${id} (${workspace})`).join(', ');
  const text = found.count === 1 ? `One run ${one}: ${named}` : `${found.count} runs ${many}: ${named}`;
  return problem('stuck runs', `${text}${found.count > found.runs.length ? ', …' : ''}`, advice, found);
}
