import type { z } from 'zod';
import type { PublicContext } from '../../contract/context.ts';
import { AppError, unauthenticated } from '../../platform/errors.ts';
import { callersTrace } from '../runs/command.ts';
import { idempotencyKey } from '../runs/idempotency.ts';
import { withOutput } from '../runs/run-and-wait.ts';
import { runEndsOf } from '../runs/run-ends.ts';
import { admit, type Proof, webhookIdIn } from './admit.ts';
import { type Admitted, type Delivery as DeliveryRequest, deliver } from './deliver.ts';
import { type Delivery, recordDelivery } from './delivery-log.ts';
import { DELIVERY_WAIT_S, type IngestInput, type IngestOutput } from './schemas.ts';

type Output = z.input<typeof IngestOutput>;
type Finding = Pick<Delivery, 'outcome' | 'http_status' | 'run_id' | 'code' | 'message'>;
/** The outcome of a request. `webhookId` null: there is no webhook to record it for. */
type Ended = { webhookId: string | null; bytes: number; finding: Finding } & ({ output: Output } | { error: unknown });

/**
 * POST /v1/inbound-webhooks/{id}, the public ingress: content type (415), size (413), signature and token (401, one
 * answer for all failures), then JSON (400) and the start. Every outcome is recorded in the webhook's deliveries.
 */
export async function ingest(ctx: PublicContext, input: z.output<typeof IngestInput>): Promise<Output> {
  const { clock } = ctx.services;
  const receivedAt = clock.now();
  const { webhookId, bytes, finding, ...ended } = await attempt(ctx, webhookIdIn(input.id));
  if (webhookId !== null) {
    const duration_ms = Math.max(0, clock.now() - receivedAt);
    const received_at = new Date(receivedAt);
    recordDelivery(ctx.services, { subscriptionId: webhookId, bytes, duration_ms, received_at, ...finding });
  }
  if ('error' in ended) throw ended.error;
  return ended.output;
}

async function attempt(ctx: PublicContext, webhookId: string | null): Promise<Ended> {
  const { services, raw } = ctx;
  if (raw === undefined) throw new Error('The ingress was invoked without the bytes of its body.');
  let bytes = 0;
  try {
    const body = await raw.body();
    bytes = body.byteLength;
    const admission = await admit(services, webhookId, proofOf(ctx, body));
    if (!admission.admitted) {
      const { code, message } = admission;
      const finding: Finding = { outcome: 'unauthorized', http_status: 401, run_id: null, code, message };
      return { webhookId: admission.webhookId, bytes, finding, error: unauthenticated() };
    }
    await raw.countAs(`subscription:${admission.webhook.id}`);
    const { startedBy, carried } = admission;
    const proof = { signature: admission.signature, timestamp: ctx.headers.get('x-service-timestamp') };
    const key = idempotencyKey(ctx.headers);
    const delivery = { body, startedBy, carried, key, signed: proof, ...callersTrace(ctx) };
    return { webhookId, bytes, ...(await answer(ctx, admission.webhook, delivery)) };
  } catch (error) {
    return { webhookId, bytes, finding: failed(error), error };
  }
}

/** Starts the run, and waits for its output where the webhook answers with it. */
async function answer(
  ctx: PublicContext,
  webhook: Admitted,
  delivery: DeliveryRequest,
): Promise<{ finding: Finding; output: Output }> {
  if (webhook.extras.respond !== 'output') {
    const { output, repeated } = await deliver(ctx.services, webhook, delivery);
    return { finding: accepted(output.run_id, repeated), output };
  }
  const release = runEndsOf(ctx.services).reserve(webhook.tenantId);
  try {
    const { output: started, repeated } = await deliver(ctx.services, webhook, delivery);
    const output = await withOutput(ctx, webhook, started, DELIVERY_WAIT_S * 1000);
    const http_status = output.output === undefined ? 202 : 200;
    return { finding: { ...accepted(started.run_id, repeated), http_status }, output };
  } finally {
    release();
  }
}

function proofOf({ headers }: PublicContext, body: Uint8Array): Proof {
  return {
    body,
    authorization: headers.get('authorization'),
    signature: headers.get('x-service-signature'),
    timestamp: headers.get('x-service-timestamp'),
  };
}

export function accepted(runId: string, repeated: boolean): Finding {
  return { outcome: repeated ? 'duplicate' : 'accepted', http_status: 202, run_id: runId, code: null, message: null };
}

/** An error's own words are public; of any other only that it happened is written down. */
export function failed(error: unknown): Finding {
  if (!(error instanceof AppError)) {
    const message = 'The server failed to answer.';
    return { outcome: 'error', http_status: 500, run_id: null, code: 'internal_error', message };
  }
  const { status, code, message } = error;
  return { outcome: status >= 500 ? 'error' : 'rejected', http_status: status, run_id: null, code, message };
}
