import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { conflict, invalid } from '../../platform/errors.ts';
import { actorOf, carriedScopes } from '../identity/authority.ts';
import { callersTrace } from '../runs/start/command.ts';
import { readJson } from './body/json.ts';
import { toPayload } from './body/read.ts';
import { deliver } from './deliver.ts';
import { recordDelivery } from './delivery-log.ts';
import { accepted, failed } from './ingest.ts';
import { type IngestOutput, MAX_DELIVERY_BYTES, type TestWebhookInput } from './schemas.ts';
import { requireWebhook } from './view.ts';

/**
 * POST /v1/inbound-webhooks/{id}/test: makes a delivery in the caller's name, and records it. The payload is processed like the
 * payload of an external delivery. Throws AppError 404, 409 `webhook_disabled`, and the errors of a refused delivery.
 */
export async function testWebhook(
  ctx: Context,
  { id, payload }: z.output<typeof TestWebhookInput>,
): Promise<z.input<typeof IngestOutput>> {
  const { principal, services } = ctx;
  const row = await requireWebhook(ctx, id);
  if (!row.enabled) throw conflict('webhook_disabled', 'The webhook is switched off.');
  const body = Buffer.from(JSON.stringify(payload), 'utf8');
  if (body.byteLength > MAX_DELIVERY_BYTES) {
    throw invalid('The payload is too large.', [
      { path: 'payload', message: `is larger than ${MAX_DELIVERY_BYTES} bytes` },
    ]);
  }
  const { tenantId, projectId, email } = principal;
  const webhook = { id, tenantId, projectId, workflowId: row.workflow_id, extras: row.extras };
  const receivedAt = services.clock.now();
  const record = (finding: ReturnType<typeof accepted>) =>
    recordDelivery(services, {
      ...finding,
      message: [`Test by ${email}.`, finding.message].filter(Boolean).join(' '),
      subscriptionId: id,
      bytes: body.byteLength,
      duration_ms: Math.max(0, services.clock.now() - receivedAt),
      received_at: new Date(receivedAt),
    });
  try {
    const { output } = await deliver(services, webhook, {
      payload: toPayload(readJson(body.toString('utf8'))),
      startedBy: email,
      carried: [carriedScopes(principal)],
      actsFor: actorOf(principal),
      key: null,
      identity: null,
      ...callersTrace(ctx),
    });
    record(accepted(output.run_id, false));
    return output;
  } catch (error) {
    record(failed(error));
    throw error;
  }
}
