import type { Services } from '../operation/services.ts';
import type { Cluster } from '../orchestrator/ports/cluster.ts';
import type { Orchestrator } from '../orchestrator/ports/orchestrator.ts';
import { invalid } from '../platform/errors.ts';
import type { Page } from './rest.ts';

const json = 'application/json; charset=utf-8';

/**
 * Reports that the process is up, and in a cluster the id of the node. Checks no dependency: otherwise a container orchestrator
 * would restart the process when the database fails.
 */
export function healthz({ cluster }: Pick<Services, 'cluster'>): Page {
  const body = JSON.stringify({ status: 'ok', ...(cluster === null ? {} : { node: cluster.node.id }) });
  return { contentType: json, limited: false, render: async () => ({ status: 200, body }) };
}

/**
 * Answers whether to send traffic here (docs/specification/http.md#service-endpoints): the database is reachable,
 * migrations are applied, and the orchestrator leads, or is a node of a cluster that reaches who does. With `?role=any` it
 * answers whether a rollout may go on: a standby is well, though no traffic should go there.
 */
export function readyz(services: Pick<Services, 'pool' | 'orchestrator' | 'logger' | 'cluster' | 'replication'>): Page {
  return {
    contentType: json,
    limited: false,
    async render(search = '') {
      const role = new URLSearchParams(search).get('role');
      if (role !== null && role !== 'any') throw invalid('The query parameter role of /readyz takes only "any".');
      const database = await databaseState(services);
      const orchestrator = services.orchestrator.status();
      const fault = services.cluster === null ? null : clusterFault(services.cluster, services.orchestrator);
      const serves = services.cluster === null ? orchestrator === 'leading' : fault === null;
      const ready = database === 'migrated' && serves;
      const status = ready ? 'ready' : orchestrator === 'standby' && fault === null ? 'standby' : 'unavailable';
      const isWell = ready || (role === 'any' && database === 'migrated' && status === 'standby');
      const reason = services.orchestrator.unavailableReason() ?? fault;
      const replication = services.replication?.state();
      const body = {
        status,
        database,
        orchestrator,
        ...(services.cluster === null ? {} : { members: services.cluster.members().length }),
        ...(replication === undefined ? {} : { replication }),
        ...(reason === null ? {} : { reason }),
        ...(isWell ? {} : { error: `Not ready: ${status}.`, code: status }),
      };
      return { status: isWell ? 200 : 503, body: JSON.stringify(body) };
    },
  };
}

/**
 * Returns why a node of a cluster cannot serve, as a sentence without secrets; null if it can. A standby node must reach
 * another node to serve. A node that leads all shards needs no other.
 */
function clusterFault(cluster: Cluster, engine: Pick<Orchestrator, 'status' | 'shards'>): string | null {
  const orchestrator = engine.status();
  const led = engine.shards();
  if (cluster.members().length === 0) return 'This node is not a member of the cluster.';
  if (led === 'all' || led.led.size === cluster.shards) return null;
  if (cluster.isCutOff()) return 'This node reaches no other node of the cluster.';
  if (orchestrator === 'leading') return null;
  const isForwarding = orchestrator === 'standby' || cluster.isLed();
  return isForwarding && (orchestrator === 'standby' || orchestrator === 'unavailable')
    ? null
    : 'This node can neither lead nor reach who does.';
}

/**
 * A probe must be answered: if all connections of the pool hang, the database counts as unreachable after this time.
 */
const PROBE_TIMEOUT_MS = 2000;

async function databaseState({
  pool,
  logger,
}: Pick<Services, 'pool' | 'logger'>): Promise<'migrated' | 'migrating' | 'unreachable'> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_TIMEOUT_MS} ms`)), PROBE_TIMEOUT_MS);
  });
  const query = pool.query<{ pending: boolean }>(
    'SELECT EXISTS (SELECT FROM _prisma_migrations WHERE finished_at IS NULL AND rolled_back_at IS NULL) AS pending',
  );
  query.catch(() => undefined); // it may fail after the timeout, when no caller waits any more
  try {
    const { rows } = await Promise.race([query, timeout]);
    return rows[0]?.pending ? 'migrating' : 'migrated';
  } catch (error) {
    logger.warn({ err: error }, 'the database does not answer');
    return 'unreachable';
  } finally {
    clearTimeout(timer);
  }
}
