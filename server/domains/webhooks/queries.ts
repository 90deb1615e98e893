import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Queryable } from '../../platform/postgres/transaction.ts';
import type { PatGrant } from '../identity/principal-cache.ts';
import { liveGrants, type PatRow, toGrant } from '../identity/principal-queries.ts';
import type { PresetName } from './presets/catalog.ts';
import type { DeliveryOutcome, Extras } from './schemas.ts';

/** The project in which a webhook must be for the caller to see it. */
export type ProjectScope = { tenantId: string; projectId: string };

/** The ids that locate a workflow. */
export type WorkflowKey = ProjectScope & { workflowId: string };

export type WebhookRow = {
  id: string;
  tenant_id: string;
  project_id: string;
  workflow_id: string;
  workflow_name: string;
  name: string;
  enabled: boolean;
  automation_pat_id: string | null;
  automation_email: string | null;
  extras: z.output<typeof Extras>;
  preset: PresetName;
  username: string | null;
  has_secret: boolean;
  require_timestamp: boolean;
  previous_secret_expires_at: Date | null;
  created_at: Date;
  updated_at: Date;
  last_outcome: z.output<typeof DeliveryOutcome> | null;
  last_status: number | null;
  last_received_at: Date | null;
};

/**
 * SQL: whether a webhook is enabled. Archiving a workflow disables its webhooks, but misses a webhook that is created
 * at the same moment, so the status is checked too.
 */
const isOn = `(s.enabled AND w.status <> 'archived')`;

const selectWebhooks = `
  SELECT s.id, s.tenant_id, s.project_id, s.workflow_id, w.name AS workflow_name, s.name, ${isOn} AS enabled, s.automation_pat_id,
         u.email AS automation_email, s.extras, s.preset, s.username, s.has_secret, s.require_timestamp, s.previous_secret_expires_at,
         s.created_at, s.updated_at,
         d.outcome AS last_outcome, d.http_status AS last_status, d.received_at AS last_received_at
    FROM webhook_subscriptions s
    JOIN workflows w ON w.id = s.workflow_id
    LEFT JOIN pats t ON t.id = s.automation_pat_id AND t.tenant_id = s.tenant_id
    LEFT JOIN users u ON u.id = t.user_id
    LEFT JOIN LATERAL (SELECT outcome, http_status, received_at FROM webhook_deliveries
                        WHERE subscription_id = s.id ORDER BY id DESC LIMIT 1) d ON true
   WHERE s.tenant_id = $1 AND s.project_id = $2`;

/** Returns the webhooks of a project, newest first. */
export async function listWebhookRows(
  pool: Pool,
  scope: ProjectScope,
  filter: { workflowId: string | undefined; after: { at: Date; id: string } | null; limit: number },
): Promise<WebhookRow[]> {
  const { rows } = await pool.query<WebhookRow>(
    `${selectWebhooks}
       AND ($3::uuid IS NULL OR s.workflow_id = $3)
       AND ($4::timestamptz IS NULL OR (s.created_at, s.id) < ($4, $5::uuid))
     ORDER BY s.created_at DESC, s.id DESC LIMIT $6`,
    [
      scope.tenantId,
      scope.projectId,
      filter.workflowId ?? null,
      filter.after?.at ?? null,
      filter.after?.id ?? null,
      filter.limit,
    ],
  );
  return rows;
}

/** Returns the webhook, or null if this project does not have it. */
export async function findWebhookRow(pool: Pool, scope: ProjectScope, id: string): Promise<WebhookRow | null> {
  const { rows } = await pool.query<WebhookRow>(`${selectWebhooks} AND s.id = $3`, [
    scope.tenantId,
    scope.projectId,
    id,
  ]);
  return rows[0] ?? null;
}

/**
 * Locks the project until the transaction ends: two concurrent requests cannot both create the last permitted webhook.
 */
export async function lockProject(tx: Queryable, { tenantId, projectId }: ProjectScope): Promise<void> {
  await tx.query('SELECT 1 FROM projects WHERE id = $1 AND tenant_id = $2 FOR UPDATE', [projectId, tenantId]);
}

/**
 * Returns the status of a workflow, which cannot be archived until the transaction ends; null if
 * the project does not have it.
 */
export async function lockWorkflowStatus(
  tx: Queryable,
  { tenantId, projectId, workflowId }: WorkflowKey,
): Promise<string | null> {
  const { rows } = await tx.query<{ status: string }>(
    'SELECT status FROM workflows WHERE id = $1 AND tenant_id = $2 AND project_id = $3 FOR SHARE',
    [workflowId, tenantId, projectId],
  );
  return rows[0]?.status ?? null;
}

/** Returns the grant of a token of the project, by its id or by its hash; null if there is no valid one. */
export async function findProjectGrant(
  pool: Pool,
  scope: ProjectScope,
  by: { id: string } | { tokenHash: Buffer },
): Promise<PatGrant | null> {
  const { rows } = await pool.query<PatRow>(
    `${liveGrants} AND t.tenant_id = $1 AND t.project_id = $2 AND ${'id' in by ? 't.id' : 't.token_hash'} = $3`,
    [scope.tenantId, scope.projectId, 'id' in by ? by.id : by.tokenHash],
  );
  return rows[0] ? toGrant(rows[0]) : null;
}

export type IngressRow = {
  id: string;
  tenantId: string;
  projectId: string;
  workflowId: string;
  enabled: boolean;
  automationPatId: string | null;
  extras: z.output<typeof Extras>;
  requireTimestamp: boolean;
  preset: PresetName;
  username: string | null;
};
/** Null: the webhook does not exist; the token is not live; no token is stored, or the stored one is not live. */
export type Ingress = { webhook: IngressRow | null; bearer: PatGrant | null; automation: PatGrant | null };

type GrantJson = Omit<PatRow, 'expires_at' | 'last_used_at'> & {
  expires_at: string | null;
  last_used_at: string | null;
};
type IngressColumns = { webhook: IngressRow | null; bearer: GrantJson | null; automation: GrantJson | null };

const ingressQuery = {
  name: 'find_webhook_ingress',
  text: `SELECT CASE WHEN s.id IS NOT NULL THEN json_build_object(
                  'id', s.id, 'tenantId', s.tenant_id, 'projectId', s.project_id, 'workflowId', s.workflow_id, 'enabled', ${isOn},
                  'automationPatId', s.automation_pat_id, 'extras', s.extras, 'requireTimestamp', s.require_timestamp,
                  'preset', s.preset, 'username', s.username) END AS webhook,
                row_to_json(bearer) AS bearer, row_to_json(automation) AS automation
           FROM (VALUES ($1::uuid)) asked(id)
           LEFT JOIN webhook_subscriptions s ON s.id = asked.id
           LEFT JOIN workflows w ON w.id = s.workflow_id
           LEFT JOIN LATERAL (${liveGrants} AND t.token_hash = $2) bearer ON true
           LEFT JOIN LATERAL (${liveGrants} AND t.id = s.automation_pat_id) automation ON true`,
};

/**
 * Returns everything that the database knows about a delivery, always in one round trip: the time must not
 * reveal which part was missing.
 */
export async function findIngress(pool: Pool, webhookId: string, tokenHash: Buffer): Promise<Ingress> {
  const { rows } = await pool.query<IngressColumns>({ ...ingressQuery, values: [webhookId, tokenHash] });
  const [row] = rows;
  if (!row) throw new Error('The look-up of a webhook returned no row.');
  return { webhook: row.webhook, bearer: revive(row.bearer), automation: revive(row.automation) };
}

function revive(json: GrantJson | null): PatGrant | null {
  if (json === null) return null;
  const date = (text: string | null) => (text === null ? null : new Date(text));
  return toGrant({ ...json, expires_at: date(json.expires_at), last_used_at: date(json.last_used_at) });
}
