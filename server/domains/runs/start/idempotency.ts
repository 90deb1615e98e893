import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { AppError, conflict, invalid } from '../../../platform/errors.ts';
import { canonicalJson } from '../../workflows/checksum.ts';
import { type Reservation, reserve, saveResponse } from './idempotency-store.ts';

/**
 * Returns the request's Idempotency-Key, or null. Throws AppError 422 unless it has 1 to 255 printable ASCII characters.
 */
export function idempotencyKey(headers: Context['headers']): string | null {
  const key = headers.get('idempotency-key');
  if (key === undefined) return null;
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key;
  throw invalid(
    'The Idempotency-Key is malformed.',
    [{ path: 'Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' }],
    'invalid_idempotency_key',
  );
}

/**
 * Executes a start once per key, however often and however concurrently it is requested, and even if processes crash in
 * between.
 *
 * The reservation is one row, from which the id of the run is derived (`runId`). So all requests with the key start the
 * same run, and the run's primary key lets only one of them through. No request waits for another, and a crash leaves
 * nothing that could block the key: the next request starts or finds the same run. A refused start stores no answer:
 * the same request may be repeated, and is decided again.
 *
 * `request` is the data that must be equal in two requests with the same key. `start` receives the id for the run.
 * `find` looks up the run if that id is taken, and returns null if the run started before `notBefore`. A run with the
 * derived id belongs to the key whenever it started, so a clock that is set back after the reservation causes no
 * refusal. A run with an id that the caller chose belongs to another request if it started before the reservation, so a
 * clock that is set back causes a refusal with 409 `run_id_taken`. A key that was reserved by a fast clock stays in
 * force for a day after that time: starting twice would be worse. Throws AppError 409 `idempotency_key_reused`.
 */
export async function once(
  services: Services,
  owner: { tenantId: string; scope: string; key: string; request: unknown },
  act: {
    start(runId: string): Promise<JsonMap>;
    find(runId: string, notBefore: Date | null): Promise<JsonMap | null>;
    /** The id that the caller chose, if any, which replaces the derived one. */
    runId: string | undefined;
    /**
     * Receives the id of the key and returns the id to use: a different one if the request already started a run with
     * that id.
     */
    claim?(runId: string): Promise<string>;
  },
): Promise<JsonMap> {
  const { pool, clock } = services;
  const { tenantId, scope, key } = owner;
  const requestHash = createHash('sha256').update(canonicalJson(owner.request)).digest();
  const reservation = await reserve(pool, { tenantId, scope, key, requestHash, at: new Date(clock.now()) });
  if (!reservation.requestHash.equals(requestHash)) {
    throw conflict('idempotency_key_reused', 'This Idempotency-Key was used with another request.');
  }
  const own = act.runId ?? derivedRunId(owner, reservation);
  const runId = (await act.claim?.(own)) ?? own;
  if (reservation.response !== null && runId === own) return reservation.response;

  const response = await act.start(runId).catch(async (error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'run_id_taken') throw error;
    const found = await act.find(runId, act.runId === undefined ? null : reservation.createdAt);
    if (found === null) throw error;
    return found;
  });
  if (runId === own) await saveResponse(pool, { tenantId, scope, key, createdAt: reservation.createdAt, response });
  return response;
}

/** Returns a UUIDv7 with the time of the reservation, whose random part is a hash of the key and its owner. */
function derivedRunId(owner: { tenantId: string; scope: string; key: string }, reservation: Reservation): string {
  const msecs = reservation.createdAt.getTime();
  const random = createHash('sha256')
    .update(JSON.stringify([owner.tenantId, owner.scope, owner.key, msecs]))
    .digest();
  return v7({ msecs, random });
}
