import type { Pool } from 'pg';
import type { ParentCall, StartedBeneath } from '../../orchestrator/core/index.ts';
import { camelCased } from '../../platform/postgres/rows.ts';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import { closedThread, isDecidable } from '../runs/access/store.ts';
import type { DeliveryChannel, NotificationKind } from './schemas.ts';

/** The person who gets a message, and the channel that carries it. */
export type Recipient = { tenantId: string; userId: string; channel: DeliveryChannel };
/** A delivery that this process attempts now. */
export type Claimed = Recipient & {
  runId: string;
  stepId: string;
  kind: NotificationKind;
  projectId: string;
  workflowId: string;
  workflowName: string | null;
  taskName: string | null;
  /** The email address of the account. */
  email: string;
  /** The number of attempts, including this one. */
  attempts: number;
  createdAt: Date;
  /** Why the delivery is no longer worth sending; null if it is. */
  obsolete: string | null;
};

/** The maximum size of one claim. */
export type ClaimLimits = { recipients: number; perMessage: number };

/**
 * Claims the recipients who have waited longest, and for each the deliveries of one message: those that are due, and
 * those not attempted yet. A claim counts as an attempt and sets the time of the next one, `retryAfterMs[attempts]`
 * later, so no other process claims the same deliveries, and after a crash they are attempted again.
 */
export async function claimDue(
  db: Queryable,
  now: number,
  retryAfterMs: readonly number[],
  limits: ClaimLimits,
): Promise<Claimed[]> {
  const { rows } = await db.query({
    // Prepared, because nothing is usually due, and planning its joins takes longer than finding that out.
    name: 'claim_notifications',
    text: CLAIM,
    values: [now, retryAfterMs, limits.recipients, limits.perMessage, retryAfterMs.length - 1],
  });
  return camelCased<Claimed>(rows);
}

/**
 * SQL: selects a row if the person may not read the conversation of a task's run
 * (server/domains/tasks/visible-store.ts).
 */
const CLOSED = closedThread({ run: 't.run_id', tenant: 't.tenant_id', user: 'd.user_id' });

const CLAIM = `
  WITH recipients AS (
    SELECT tenant_id, user_id, channel FROM notification_deliveries
    WHERE state = 'pending' AND next_attempt_at <= to_timestamp($1::float8 / 1000)
    GROUP BY tenant_id, user_id, channel ORDER BY min(next_attempt_at) LIMIT $3
  ), chosen AS MATERIALIZED (
    SELECT d.* FROM recipients r CROSS JOIN LATERAL (
      SELECT d.tenant_id, d.user_id, d.run_id, d.step_id, d.channel FROM notification_deliveries d
      WHERE d.tenant_id = r.tenant_id AND d.user_id = r.user_id AND d.channel = r.channel AND d.state = 'pending'
        AND (d.next_attempt_at <= to_timestamp($1::float8 / 1000) OR d.attempts = 0)
      ORDER BY d.created_at LIMIT $4 FOR UPDATE SKIP LOCKED) d
  ), claimed AS (
    UPDATE notification_deliveries d
    SET attempts = d.attempts + 1,
        next_attempt_at = to_timestamp(($1::float8 + ($2::float8[])[least(d.attempts + 1, $5::int) + 1]) / 1000)
    FROM chosen c
    WHERE d.tenant_id = c.tenant_id AND d.user_id = c.user_id AND d.run_id = c.run_id AND d.step_id = c.step_id
      AND d.channel = c.channel
    RETURNING d.*
  )
  SELECT d.tenant_id, d.user_id, d.channel, d.run_id, d.step_id, d.kind, d.project_id, d.workflow_id, d.attempts, d.created_at,
         w.name AS workflow_name, t.name AS task_name, u.email,
         CASE
           WHEN d.kind = 'task_waiting' AND t.state IS DISTINCT FROM 'pending' THEN 'The task no longer waits.'
           WHEN closed.is_deleted OR (NOT closed.is_deleted AND NOT ${isDecidable('t')}) THEN 'The conversation is private.'
           WHEN w.id IS NULL THEN 'The workflow was deleted.'
           WHEN NOT d.kind = ANY(CASE d.channel WHEN 'email' THEN p.email ELSE p.webhook END) THEN 'Turned off.'
           WHEN NOT (m.tenant_admin OR coalesce(pm.role, '') =
             ANY(CASE d.kind WHEN 'task_waiting' THEN '{project_contributor}'::text[] ELSE '{project_contributor,project_viewer}' END))
             THEN 'You no longer have access.'
         END AS obsolete
  FROM claimed d
  JOIN memberships m ON m.tenant_id = d.tenant_id AND m.user_id = d.user_id
  JOIN users u ON u.id = d.user_id
  JOIN notification_preferences p ON p.tenant_id = d.tenant_id AND p.user_id = d.user_id
  LEFT JOIN project_members pm ON pm.project_id = d.project_id AND pm.user_id = d.user_id
  LEFT JOIN workflows w ON w.id = d.workflow_id
  LEFT JOIN human_tasks t ON t.run_id = d.run_id AND t.step_id = d.step_id
  LEFT JOIN LATERAL (${CLOSED}) closed ON true
  ORDER BY d.tenant_id, d.user_id, d.channel, d.created_at, d.run_id, d.step_id`;

/** Stores the outcome of attempted deliveries. `pending` ones will be attempted again. `at` in ms since the epoch. */
export async function saveOutcome(
  db: Queryable,
  { tenantId, userId, channel }: Recipient,
  deliveries: readonly Pick<Claimed, 'runId' | 'stepId'>[],
  outcome: { state: 'pending' | 'delivered' | 'failed' | 'skipped'; reason: string | null },
  at: number,
): Promise<void> {
  if (deliveries.length === 0) return;
  await db.query(
    `UPDATE notification_deliveries d
     SET state = $6, reason = $7, ended_at = CASE WHEN $6 = 'pending' THEN NULL ELSE to_timestamp($8::float8 / 1000) END
     FROM unnest($4::uuid[], $5::text[]) AS v(run_id, step_id)
     WHERE d.tenant_id = $1 AND d.user_id = $2 AND d.channel = $3 AND d.run_id = v.run_id AND d.step_id = v.step_id
       AND d.state = 'pending'`,
    [
      tenantId,
      userId,
      channel,
      deliveries.map(({ runId }) => runId),
      deliveries.map(({ stepId }) => stepId),
      outcome.state,
      outcome.reason,
      at,
    ],
  );
}

export type DeliveryRow = {
  run_id: string;
  step_id: string;
  channel: DeliveryChannel;
  kind: NotificationKind;
  project_id: string;
  workflow_id: string;
  workflow_name: string | null;
  task_name: string | null;
  state: 'pending' | 'delivered' | 'failed' | 'skipped';
  attempts: number;
  next_attempt_at: Date;
  reason: string | null;
  created_at: Date;
  ended_at: Date | null;
};
export type DeliveryKey = { at: Date; runId: string; stepId: string; channel: string };

/** Returns deliveries to a person, newest first, after the keyset. */
export async function listDeliveries(
  pool: Pool,
  { tenantId, userId }: { tenantId: string; userId: string },
  { after, limit, channel }: { after: DeliveryKey | null; limit: number; channel: DeliveryChannel | undefined },
): Promise<DeliveryRow[]> {
  const { rows } = await pool.query<DeliveryRow>(
    `SELECT d.*, w.name AS workflow_name,
            CASE WHEN closed.is_deleted IS NULL OR (NOT closed.is_deleted AND t.state = 'pending' AND ${isDecidable('t')})
              THEN t.name END AS task_name
     FROM (SELECT * FROM notification_deliveries d
           WHERE d.tenant_id = $1 AND d.user_id = $2 AND ($8::text IS NULL OR d.channel = $8)
             AND ($3::timestamptz IS NULL OR (d.created_at, d.run_id, d.step_id, d.channel) < ($3, $4::uuid, $5, $6))
           ORDER BY d.created_at DESC, d.run_id DESC, d.step_id DESC, d.channel DESC LIMIT $7) d
     LEFT JOIN workflows w ON w.id = d.workflow_id AND w.tenant_id = $1
     LEFT JOIN human_tasks t ON t.run_id = d.run_id AND t.step_id = d.step_id AND t.tenant_id = $1
     LEFT JOIN LATERAL (${CLOSED}) closed ON true
     ORDER BY d.created_at DESC, d.run_id DESC, d.step_id DESC, d.channel DESC`,
    [
      tenantId,
      userId,
      after?.at ?? null,
      after?.runId ?? null,
      after?.stepId ?? null,
      after?.channel ?? null,
      limit,
      channel ?? null,
    ],
  );
  return rows;
}

/** The run by which a run was started, if another run started it. */
type RunStart = { runId: string; parent: ParentCall | undefined; beneath: StartedBeneath | undefined };

/** Returns how runs of a workspace were started; deleted runs are absent. */
export async function findStarts(pool: Pool, tenantId: string, runIds: readonly string[]): Promise<RunStart[]> {
  const { rows } = await pool.query<{ id: string; parent: ParentCall | null; beneath: StartedBeneath | null }>({
    name: 'notification_run_starts',
    text: `SELECT r.id, e.data->'parent' AS parent, e.data->'beneath' AS beneath
             FROM runs r JOIN run_events e ON e.run_id = r.id AND e.seq = 1
            WHERE r.id = ANY($2::uuid[]) AND r.tenant_id = $1`,
    values: [tenantId, runIds],
  });
  return rows.map(({ id, parent, beneath }) => ({
    runId: id,
    parent: parent ?? undefined,
    beneath: beneath ?? undefined,
  }));
}
