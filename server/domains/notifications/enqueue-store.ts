import type { Queryable } from '../../platform/postgres/transaction.ts';
import { closedThread, isDecidable } from '../runs/access/store.ts';

/** A range of numbers after `after`, up to and including `upTo`. */
type Range = { after: string; upTo: string };
/**
 * When the first attempt of each channel is due, in ms since the epoch; null if this deployment
 * does not have the channel.
 */
export type FirstAttempts = { email: number | null; webhook: number };

/**
 * SQL: a row for each channel that can deliver to the person now; `kinds` are the kinds that the person chose for it. A
 * browser reads its deliveries itself, so none is attempted.
 */
const CHANNELS = `CROSS JOIN LATERAL (VALUES
    ('browser', p.browser, 'delivered', to_timestamp($4::float8 / 1000), to_timestamp($4::float8 / 1000)),
    ('email', p.email, 'pending', CASE WHEN u.confirmed_at IS NOT NULL THEN to_timestamp($3::float8 / 1000) END, NULL),
    ('webhook', p.webhook, 'pending', CASE WHEN p.webhook_origin IS NOT NULL THEN to_timestamp($4::float8 / 1000) END, NULL)
  ) c(channel, kinds, state, due, ended)`;
const COLUMNS = `tenant_id, user_id, run_id, step_id, channel, kind, project_id, workflow_id, state, next_attempt_at, ended_at,
       created_at`;

/**
 * Adds the deliveries of new tasks to the people who may answer them, by the rule of `mayAnswer`
 * (server/domains/tasks/complete.ts), if they see them (server/domains/tasks/visible-store.ts). Test runs are skipped:
 * the person who tests is watching the run.
 */
export async function enqueueTasks(db: Queryable, { after, upTo }: Range, at: FirstAttempts): Promise<void> {
  await db.query(
    `INSERT INTO notification_deliveries (${COLUMNS})
     SELECT t.tenant_id, p.user_id, t.run_id, t.step_id, c.channel, 'task_waiting', t.project_id, t.workflow_id,
            c.state, c.due, c.ended, t.created_at
     FROM human_tasks t
     JOIN runs r ON r.id = t.run_id AND r.version > 0
     JOIN notification_preferences p ON p.tenant_id = t.tenant_id
     JOIN memberships m ON m.tenant_id = p.tenant_id AND m.user_id = p.user_id
     JOIN users u ON u.id = p.user_id
     LEFT JOIN project_members pm ON pm.project_id = t.project_id AND pm.user_id = p.user_id
     LEFT JOIN LATERAL (${closedThread({ run: 't.run_id', tenant: 't.tenant_id', user: 'p.user_id' })}) closed ON true
     ${CHANNELS}
     WHERE t.state = 'pending' AND (closed.is_deleted IS NULL OR NOT closed.is_deleted AND ${isDecidable('t')}) AND t.seq > $1 AND t.seq <= $2 AND 'task_waiting' = ANY(c.kinds) AND c.due IS NOT NULL
       AND (m.tenant_admin OR (pm.role = 'project_contributor' AND (cardinality(coalesce(t.assigned_to, t.assignees)) = 0
         OR EXISTS (SELECT FROM unnest(coalesce(t.assigned_to, t.assignees)) a WHERE lower(a) IN (u.email, 'project_contributor')))))
     ON CONFLICT DO NOTHING`,
    [after, upTo, at.email, at.webhook],
  );
}

/**
 * Adds the deliveries of failed runs to the people who created the workflow or published its latest version, and still
 * see its project. Test runs are skipped.
 */
export async function enqueueFailedRuns(db: Queryable, { after, upTo }: Range, at: FirstAttempts): Promise<void> {
  await db.query(
    `INSERT INTO notification_deliveries (${COLUMNS})
     SELECT r.tenant_id, p.user_id, r.id, '', c.channel, 'run_failed', r.project_id, r.workflow_id,
            c.state, c.due, c.ended, coalesce(r.ended_at, g.created_at)
     FROM run_usage g
     CROSS JOIN LATERAL json_array_elements(g.attempts) line
     JOIN runs r ON r.id = (line->>0)::uuid AND r.version > 0
     JOIN workflows w ON w.id = r.workflow_id
     LEFT JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.latest_version
     JOIN notification_preferences p ON p.tenant_id = r.tenant_id AND p.user_id IN (w.created_by, v.published_by)
     JOIN memberships m ON m.tenant_id = p.tenant_id AND m.user_id = p.user_id
     JOIN users u ON u.id = p.user_id
     LEFT JOIN project_members pm ON pm.project_id = r.project_id AND pm.user_id = p.user_id
     ${CHANNELS}
     WHERE g.seq > $1 AND g.seq <= $2 AND g.action = 'run_ended' AND g.outcome = 'failed'
       AND 'run_failed' = ANY(c.kinds) AND c.due IS NOT NULL AND (m.tenant_admin OR pm.role IS NOT NULL)
     ON CONFLICT DO NOTHING`,
    [after, upTo, at.email, at.webhook],
  );
}
