import type { z } from 'zod';
import type { Services } from '../../operation/services.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { AppError } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import type { StartRequest } from '../runs/start/assemble.ts';
import { findStarted, toStarted } from '../runs/start/command.ts';
import { once } from '../runs/start/idempotency.ts';
import { mergeBeneath } from '../runs/start/run-input.ts';
import { startRun } from '../runs/start/start.ts';
import type { Identity } from './presets/preset.ts';
import type { IngressRow } from './queries.ts';
import { IngestOutput } from './schemas.ts';
import { claimSignature, findSignedRun } from './signature-queries.ts';

export type AuthenticatedWebhook = Pick<IngressRow, 'id' | 'tenantId' | 'projectId' | 'workflowId' | 'extras'>;
export type Delivered = { output: z.output<typeof IngestOutput>; repeated: boolean };

export type Delivery = Pick<StartRequest, 'startedBy' | 'carried' | 'actsFor' | 'traceparent'> & {
  payload: JsonMap;
  /** The Idempotency-Key, which is not signed. */
  key: string | null;
  /**
   * The identity by which a repetition of the delivery is recognized; null for a delivery without one, such as one from
   * this server.
   */
  identity: Identity | null;
};

/**
 * Starts the run of an authenticated delivery. Its input is the posted payload, which replaces fields of the fixed one
 * in `extras`. While an identity is known, its deliveries start one run, regardless of their keys. With a key, the same
 * payload starts one run in 24 hours. Throws AppError 409 `idempotency_key_reused`, and the errors of a start.
 */
export async function deliver(
  services: Services,
  webhook: AuthenticatedWebhook,
  delivery: Delivery,
): Promise<Delivered> {
  const { key, identity, payload } = delivery;
  const { pool, clock } = services;
  let repeated = true;
  const start = async (runId?: string) => {
    const started = toStarted(await startRun(services, { ...startOf(webhook, delivery), runId }));
    repeated = false;
    return started;
  };
  const { tenantId, projectId, workflowId } = webhook;
  const find = (runId: string) => findStarted(pool, { tenantId, projectId, workflowId, runId }, null);
  const answer = (output: unknown) => ({ output: IngestOutput.parse(output), repeated });

  const owner = { tenantId, scope: `subscription:${webhook.id}`, key: key ?? '', request: payload };
  if (identity === null) {
    return answer(key === null ? await start() : await once(services, owner, { start, find, runId: undefined }));
  }
  const ref = { webhookId: webhook.id, signature: identity.digest };
  const known = await findSignedRun(pool, ref, clock.now());
  if (known !== null) return answer((await find(known)) ?? (await startAs(known, start, find)));
  const claim = (runId: string) =>
    claimSignature(pool, ref, { runId, expiresAt: identity.knownUntil, now: clock.now() });
  if (key !== null) return answer(await once(services, owner, { start, find, claim, runId: undefined }));
  if (identity.withKeyOnly) return answer(await start());
  return answer(await startAs(await claim(newId()), start, find));
}

type Started = z.input<typeof IngestOutput>;

/** Starts the run with this id, or finds it if another request has started it. */
async function startAs(
  runId: string,
  start: (runId: string) => Promise<Started>,
  find: (runId: string) => Promise<Started | null>,
): Promise<Started> {
  return start(runId).catch(async (error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'run_id_taken') throw error;
    const found = await find(runId);
    if (found === null) throw error;
    return found;
  });
}

function startOf(webhook: AuthenticatedWebhook, delivery: Delivery): StartRequest {
  const { tenantId, projectId, workflowId, extras } = webhook;
  const { payload, startedBy, carried, actsFor, traceparent } = delivery;
  const params: JsonMap = {
    trigger_type: 'webhook',
    webhook_payload: mergeBeneath(payload, (extras.trigger_payload ?? {}) as JsonMap),
    // Set explicitly, instead of leaving it to the version's `use_as_default`: defaults are merged only if the webhook
    // enables it.
    use_run_setup_defaults: extras.use_run_setup_defaults === true,
  };
  const trace = traceparent === undefined ? {} : { traceparent };
  const whose = { startedBy, carried, actsFor };
  return {
    tenantId,
    projectId,
    workflowId,
    params,
    defaultTriggerType: 'webhook',
    outsideInput: 'from a webhook',
    ...whose,
    ...trace,
  };
}
