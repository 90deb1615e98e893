import type { z } from 'zod';
import type { PublicContext } from '../../operation/context.ts';
import { AppError, invalid } from '../../platform/errors.ts';
import { callersTrace } from '../runs/start/command.ts';
import { idempotencyKey } from '../runs/start/idempotency.ts';
import { mergeBeneath } from '../runs/start/run-input.ts';
import { withOutput } from '../runs/waiting/run-and-wait.ts';
import { runEndsOf } from '../runs/waiting/run-ends.ts';
import { type Address, type Authentication, authenticateDelivery, readAddress } from './authenticate-delivery.ts';
import { CLOUD_EVENT_PREFIX } from './body/cloud-event.ts';
import { readPayload } from './body/read.ts';
import { type AuthenticatedWebhook, type Delivery as DeliveryRequest, deliver } from './deliver.ts';
import { type Delivery, recordDelivery } from './delivery-log.ts';
import type { Acknowledgement, Received } from './presets/preset.ts';
import { presetRules } from './presets/rules.ts';
import { DELIVERY_WAIT_S, type DeliveryAnswer, type IngestInput, TESTED } from './schemas.ts';

type Output = z.input<typeof DeliveryAnswer>;
type Finding = Pick<Delivery, 'outcome' | 'http_status' | 'run_id' | 'code' | 'message'>;
/** The outcome of a request. `webhookId` is null if there is no webhook for which to record it. */
type Ended = { webhookId: string | null; bytes: number; finding: Finding } & ({ output: Output } | { error: unknown });

/**
 * POST /v1/inbound-webhooks/{id}, the public ingress. Checks size (413) and authentication (401), then reads the body
 * (400, 413, 415) and starts the run. Every outcome is recorded in the webhook's deliveries.
 */
export async function ingest(ctx: PublicContext, input: z.output<typeof IngestInput>): Promise<Output> {
  const { clock } = ctx.services;
  const receivedAt = clock.now();
  const attempted = await attempt(ctx, readAddress(input.id), input.validationToken);
  // The other node has recorded the delivery, and its answer is the one that is sent.
  if (attempted === 'handed over') return { text: '' };
  const { webhookId, bytes, finding, ...ended } = attempted;
  if (webhookId !== null) {
    const duration_ms = Math.max(0, clock.now() - receivedAt);
    const received_at = new Date(receivedAt);
    recordDelivery(ctx.services, { subscriptionId: webhookId, bytes, duration_ms, received_at, ...finding });
  }
  if ('error' in ended) throw ended.error;
  return ended.output;
}

async function attempt(
  ctx: PublicContext,
  address: Address,
  validationToken: string | undefined,
): Promise<Ended | 'handed over'> {
  const { services, raw } = ctx;
  if (raw === undefined) throw new Error('The ingress was invoked without the bytes of its body.');
  const webhookId = address.id;
  let bytes = 0;
  try {
    const received: Received = {
      body: await raw.body(),
      header: name => ctx.headers.get(name),
      attributes: raw.headersWith(CLOUD_EVENT_PREFIX),
      pathSecret: address.secret,
      validationToken,
    };
    bytes = received.body.byteLength;
    const authentication = await authenticateDelivery(services, address, received);
    if (!authentication.authenticated) {
      const { code, message, error } = authentication;
      const finding: Finding = { outcome: 'unauthorized', http_status: 401, run_id: null, code, message };
      return { webhookId: authentication.webhookId, bytes, finding, error };
    }
    await raw.countAs(`subscription:${authentication.webhook.id}`);
    const { tenantId } = authentication.webhook;
    // Only now: a way to another node would show by its time that there is such a webhook.
    if (await raw.handOver(tenantId)) return 'handed over';
    const accepted = await services.requestTurns.take(tenantId, () => accept(ctx, authentication, received));
    return { webhookId, bytes, ...accepted };
  } catch (error) {
    return { webhookId, bytes, finding: failed(error), error };
  }
}

type Accepted = { finding: Finding; output: Output };

/**
 * Answers an authenticated delivery. A sender's test of the address is answered immediately; any other delivery starts
 * a run.
 */
async function accept(
  ctx: PublicContext,
  { webhook, startedBy, carried, actsFor }: Extract<Authentication, { authenticated: true }>,
  received: Received,
): Promise<Accepted> {
  const rules = presetRules[webhook.preset];
  const key = idempotencyKey(ctx.headers);
  const posted = await readPayload(received, rules.format);
  const acknowledgement = rules.acknowledge?.(received, posted) ?? null;
  if (acknowledgement !== null) return acknowledged(acknowledgement);
  if (received.validationToken !== undefined) {
    const message = 'is only for the preset microsoft-graph, and must be printable ASCII without angle brackets';
    throw invalid('The query is not valid.', [{ path: 'validationToken', message }], 'validation_error');
  }
  const payload = mergeBeneath(posted, rules.describe?.(received) ?? {});
  const identity = rules.identify(received, payload, ctx.services.clock.now());
  const started = await answer(ctx, webhook, {
    payload,
    startedBy,
    carried,
    actsFor,
    key,
    identity,
    ...callersTrace(ctx),
  });
  const wantsEmptyAnswer = webhook.extras.respond !== 'output' && rules.wantsEmptyAnswer?.(received) === true;
  return wantsEmptyAnswer ? { finding: { ...started.finding, http_status: 200 }, output: { text: '' } } : started;
}

function acknowledged(output: Acknowledgement): Accepted {
  const code = 'acknowledged' in output ? output.acknowledged : 'challenge';
  const message = TESTED;
  return { finding: { outcome: 'accepted', http_status: 200, run_id: null, code, message }, output };
}

/** Starts the run, and waits for its output if the webhook answers with it. */
async function answer(ctx: PublicContext, webhook: AuthenticatedWebhook, delivery: DeliveryRequest): Promise<Accepted> {
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

export function accepted(runId: string, repeated: boolean): Finding {
  return { outcome: repeated ? 'duplicate' : 'accepted', http_status: 202, run_id: runId, code: null, message: null };
}

/**
 * Returns the facts that are recorded about an error: the message of an AppError, which is public; for any other error,
 * only that it occurred.
 */
export function failed(error: unknown): Finding {
  if (!(error instanceof AppError)) {
    const message = 'The server failed to answer.';
    return { outcome: 'error', http_status: 500, run_id: null, code: 'internal_error', message };
  }
  const { status, code, message } = error;
  return { outcome: status >= 500 ? 'error' : 'rejected', http_status: status, run_id: null, code, message };
}
