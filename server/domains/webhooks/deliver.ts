import type { z } from 'zod';
import type { JsonMap, JsonValue } from '../../orchestrator/core/index.ts';
import { AppError, badRequest } from '../../platform/errors.ts';
import type { Services } from '../../services.ts';
import { findStarted, toStarted } from '../runs/command.ts';
import { once } from '../runs/idempotency.ts';
import { mergeBeneath } from '../runs/run-input.ts';
import { type StartRequest, startRun } from '../runs/start.ts';
import { IngestOutput } from './schemas.ts';
import type { IngressRow } from './store.ts';

export type Admitted = Pick<IngressRow, 'id' | 'tenantId' | 'projectId' | 'workflowId' | 'extras'>;
export type Delivered = { output: z.output<typeof IngestOutput>; repeated: boolean };

/** Levels of arrays and objects a body may nest, as everywhere in the API. */
const maxDepth = 100;

/**
 * Starts the run of a delivery that was admitted. Its input is the posted payload, over the fixed one of `extras`. With a key the
 * same body starts one run in 24 hours. AppError 400 for a body that is no JSON, 409 `idempotency_key_reused`, and what refuses a start.
 */
export async function deliver(
  services: Services,
  webhook: Admitted,
  delivery: Pick<StartRequest, 'startedBy' | 'carried' | 'traceparent'> & { body: Uint8Array; key: string | null },
): Promise<Delivered> {
  const payload = readPayload(delivery.body);
  const { tenantId, projectId, workflowId, extras } = webhook;
  const params: JsonMap = {
    trigger_type: 'webhook',
    webhook_payload: mergeBeneath(payload, (extras.trigger_payload ?? {}) as JsonMap),
    // Never left to the version's own `use_as_default`: merged only where the subscription says so.
    use_run_setup_defaults: extras.use_run_setup_defaults === true,
  };
  const { startedBy, carried, key, traceparent } = delivery;
  const trace = traceparent === undefined ? {} : { traceparent };
  const request = {
    tenantId,
    projectId,
    workflowId,
    params,
    defaultTriggerType: 'webhook',
    startedBy,
    carried,
    ...trace,
  };
  if (key === null) {
    return { output: IngestOutput.parse(toStarted(await startRun(services, request))), repeated: false };
  }
  let repeated = true;
  const output = await once(
    services,
    { tenantId, scope: `subscription:${webhook.id}`, key, request: payload },
    {
      start: async runId => {
        const started = toStarted(await startRun(services, { ...request, runId }));
        repeated = false;
        return started;
      },
      find: (runId, notBefore) => findStarted(services.pool, { tenantId, projectId, workflowId, runId }, notBefore),
      runId: undefined,
    },
  );
  return { output: IngestOutput.parse(output), repeated };
}

// Keeps nothing from one `decode` to the next. A byte order mark is no JSON.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The body as the run's payload: any JSON, `{"body": …}` around what is no object. AppError 400. */
export function readPayload(body: Uint8Array): JsonMap {
  let value: JsonValue;
  try {
    value = JSON.parse(utf8.decode(body)) as JsonValue;
  } catch (cause) {
    throw new AppError(400, 'malformed_body', 'The request body is not valid JSON.', { cause });
  }
  if (isDeeperThan(value, maxDepth)) {
    throw badRequest(`The request body is nested deeper than ${maxDepth} levels.`, 'too_deep');
  }
  return isMap(value) ? value : { body: value };
}

function isMap(value: JsonValue): value is JsonMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Level by level: the value may be nested deeper than the stack. */
function isDeeperThan(root: JsonValue, levels: number): boolean {
  let level: JsonValue[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    const containers = level.filter(value => typeof value === 'object' && value !== null);
    if (depth >= levels && containers.length > 0) return true;
    level = containers.flatMap(value => Object.values(value as JsonMap));
  }
  return false;
}
