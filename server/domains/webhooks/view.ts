import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { notFound } from '../../platform/errors.ts';
import type { WebhookDelivery } from '../../platform/postgres/generated/client.ts';
import { PRESETS } from './presets/catalog.ts';
import { findWebhookRow, type WebhookRow } from './queries.ts';
import type { Delivery, DeliveryOutcome, Webhook } from './schemas.ts';

const iso = (date: Date) => isoTimestamp(date.getTime());

/** Returns a webhook in the form that every surface shows, without any secret. */
export function toWebhook(
  { config, clock }: Pick<Services, 'config' | 'clock'>,
  row: WebhookRow,
): z.input<typeof Webhook> {
  const until = row.previous_secret_expires_at;
  const path = `/v1/inbound-webhooks/${row.id}${PRESETS[row.preset].hasVerifyToken ? '/callback' : ''}`;
  return {
    id: row.id,
    tenant_id: row.tenant_id,
    project_id: row.project_id,
    workflow_id: row.workflow_id,
    workflow_name: row.workflow_name,
    name: row.name,
    enabled: row.enabled,
    automation_pat_id: row.automation_pat_id,
    automation_email: row.automation_email,
    extras: row.extras,
    preset: row.preset,
    username: row.username,
    has_secret: row.has_secret,
    require_timestamp: row.require_timestamp,
    previous_secret_expires_at: until && until.getTime() > clock.now() ? iso(until) : null,
    ingress_url: `${config.http.url}${path}`,
    ingress_path: path,
    last_delivery:
      row.last_outcome && row.last_status && row.last_received_at
        ? { outcome: row.last_outcome, http_status: row.last_status, received_at: iso(row.last_received_at) }
        : null,
    created_at: iso(row.created_at),
    updated_at: iso(row.updated_at),
  };
}

/** Returns the address of a webhook for the one answer that shows its secret, which the address of some presets contains. */
export function shownAddress(
  webhook: Pick<z.input<typeof Webhook>, 'preset' | 'ingress_url' | 'ingress_path'>,
  secret: string | null,
): Pick<z.input<typeof Webhook>, 'ingress_url' | 'ingress_path'> {
  const suffix = PRESETS[webhook.preset].secretInAddress && secret !== null ? `.${secret}` : '';
  return { ingress_url: webhook.ingress_url + suffix, ingress_path: webhook.ingress_path + suffix };
}

export function toDelivery(row: WebhookDelivery): z.input<typeof Delivery> {
  return {
    id: row.id,
    outcome: row.outcome as z.output<typeof DeliveryOutcome>,
    http_status: row.httpStatus,
    run_id: row.runId,
    code: row.code,
    message: row.message,
    bytes: row.bytes,
    duration_ms: row.durationMs,
    received_at: iso(row.receivedAt),
  };
}

/** Returns the webhook of the credential's project. Throws AppError 404. */
export async function requireWebhook({ principal, services }: Context, id: string): Promise<WebhookRow> {
  const row = await findWebhookRow(services.pool, principal, id);
  if (row === null) throw notFound('Webhook');
  return row;
}
