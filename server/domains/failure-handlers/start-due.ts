import type { Services } from '../../operation/services.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import { ALL_SHARDS, type Shards } from '../../orchestrator/shards/slot.ts';
import { isoTimestamp, MINUTE_MS } from '../../platform/clock.ts';
import { AppError } from '../../platform/errors.ts';
import { withLineage } from '../../platform/lineage.ts';
import { isDatabaseAway } from '../../platform/postgres/away.ts';
import { linkOf } from '../notifications/notice.ts';
import { startRun } from '../runs/start/start.ts';
import { FAILURE_HANDLER_TRIGGER } from '../runs/triggers/failure.ts';
import { handlerRunId } from '../runs/triggers/handler-run.ts';
import { type DueHandler, listDueHandlers, postponeHandler, removeHandler } from './handler-store.ts';

/** The delay after each attempt until the next one: six attempts within an hour. */
const RETRY_AFTER_MS: readonly number[] = [MINUTE_MS / 6, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 35 * MINUTE_MS];
/** The maximum number of starts at a time, so that many failures do not delay the starts of requests. */
const LIMIT = 20;

/**
 * Attempts the starts that are due in the workspaces of the shards that this process leads. Returns how many there were. A start that is refused temporarily is attempted again
 * later. A start that is refused permanently, or too often, is logged and removed. Throws if the database is
 * unavailable; then no attempt is counted.
 */
export async function startDueHandlers(services: Services, shards: Shards = ALL_SHARDS): Promise<number> {
  const due = await listDueHandlers(services.pool, services.clock.now(), { limit: LIMIT, shards });
  await Promise.all(due.map(handler => attempt(services, handler)));
  return due.length;
}

async function attempt(services: Services, handler: DueHandler): Promise<void> {
  const { pool, clock, logger } = services;
  try {
    await start(services, handler);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    // Its workspace moves to another node; the others go on.
    if (isNotLeading(error)) return;
    if (!isStarted(error)) {
      const delay = isFinal(error) ? undefined : RETRY_AFTER_MS[handler.attempts];
      if (delay !== undefined) return postponeHandler(pool, handler, clock.now() + delay);
      const { tenantId: tenant_id, workflowId: handler_id, failed } = handler;
      const fields = { tenant_id, workflow_id: failed.workflowId, run_id: failed.runId, handler_id, err: error };
      logger.warn(fields, 'a failure handler did not start');
    }
  }
  await removeHandler(pool, handler);
}

const isNotLeading = (error: unknown) => error instanceof AppError && error.code === 'not_leading';
/** The handler was started by another process, or by this one before it died. */
const isStarted = (error: unknown) => error instanceof AppError && error.code === 'run_id_taken';
/** Too many requests, and errors of the server, may be temporary. */
const isFinal = (error: unknown) => error instanceof AppError && error.status < 500 && error.status !== 429;

async function start(services: Services, { tenantId, projectId, workflowId, failed }: DueHandler): Promise<void> {
  const { withheldScopes, actsFor, lineage } = failed;
  const { runId, workflowId: failedWorkflowId } = failed;
  const place = { tenantId, projectId, workflowId: failedWorkflowId, runId, stepId: '' };
  const url = linkOf(services.config.http.url, { kind: 'run_failed', ...place });
  // The handler's run is below the failed run, so that a handler cannot start that workflow again and again.
  const begin = () =>
    startRun(services, {
      tenantId,
      projectId,
      workflowId,
      params: { trigger_payload: { failed_run: summaryOf(failed, url) } },
      defaultTriggerType: FAILURE_HANDLER_TRIGGER,
      outsideInput: 'from a run that failed',
      startedBy: failed.startedBy,
      carried: withheldScopes.length === 0 ? [] : [scopes.filter(scope => !withheldScopes.includes(scope))],
      actsFor,
      runId: handlerRunId(failed),
    });
  await withLineage({ tenantId, ...lineage }, begin);
}

/** Returns the value of `input.failed_run` for the handler, without the input and results of the failed run. */
function summaryOf(failed: DueHandler['failed'], url: string): JsonMap {
  return {
    run_id: failed.runId,
    workflow_id: failed.workflowId,
    workflow_name: failed.workflowName,
    version: failed.version,
    error: failed.error,
    started_at: isoTimestamp(failed.startedAt.getTime()),
    ended_at: isoTimestamp(failed.endedAt.getTime()),
    trigger_type: failed.triggerType,
    url,
  };
}
