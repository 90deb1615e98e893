import type { Services } from '../operation/services.ts';
import type { Page } from './rest.ts';

const json = 'application/json; charset=utf-8';

/**
 * The process is up. No dependency is checked: otherwise a container orchestrator would restart
 * us when the database fails.
 */
export const healthz: Page = {
  contentType: json,
  limited: false,
  render: async () => ({ status: 200, body: '{"status":"ok"}' }),
};

/**
 * Answers whether to send traffic here (docs/specification/http.md#service-endpoints): the database is reachable,
 * migrations are applied, and the orchestrator leads.
 */
export function readyz(services: Pick<Services, 'pool' | 'orchestrator' | 'logger'>): Page {
  return {
    contentType: json,
    limited: false,
    async render() {
      const database = await databaseState(services);
      const orchestrator = services.orchestrator.status();
      const ready = database === 'migrated' && orchestrator === 'leading';
      const status = ready ? 'ready' : orchestrator === 'standby' ? 'standby' : 'unavailable';
      const reason = services.orchestrator.unavailableReason();
      const body = {
        status,
        database,
        orchestrator,
        ...(reason === null ? {} : { reason }),
        ...(ready ? {} : { error: `Not ready: ${status}.`, code: status }),
      };
      return { status: ready ? 200 : 503, body: JSON.stringify(body) };
    },
  };
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
