import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import type { Context } from '../../contract/context.ts';
import type { Services } from '../../contract/services.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { AppError, conflict, invalid } from '../../platform/errors.ts';
import { canonicalJson } from '../workflows/checksum.ts';
import { type Reservation, reserve, saveResponse } from './idempotency-store.ts';

/** The request's Idempotency-Key; null without one. AppError 422 for one that is not 1..255 printable ASCII characters. */
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
 * Does a start once per key, however often and however concurrently it is asked for, and whatever crashes in between.
 *
 * The reservation is one row; the run's id is derived from it (`runId`), so that everybody who holds the key starts the
 * same run and the run's primary key lets one of them through. Nobody waits for anybody, and a crash leaves nothing that
 * could wedge the key: the next request starts, or finds, that very run. A refused start keeps no answer: with the same
 * body it may be asked again and is then decided anew.
 *
 * `request`: what must be equal, to be the same request. `start` is given the run id to use. `find` looks up the run of
 * an id that turns out to be taken; it answers null where that run started before `notBefore`. A run with the derived id is the
 * key's own whenever it started, so that a clock set back by a millisecond after the reservation refuses nobody. An id that
 * the caller chose may be another request's run, and only the time tells: set back, it is refused with 409 `run_id_taken`.
 * A key reserved by a clock that was ahead stays in force until that clock's next day: starting twice would be worse.
 * Throws AppError 409 `idempotency_key_reused`.
 */
export async function once(
  services: Services,
  owner: { tenantId: string; scope: string; key: string; request: unknown },
  act: {
    start(runId: string): Promise<JsonMap>;
    find(runId: string, notBefore: Date | null): Promise<JsonMap | null>;
    /** The id the caller asked for, if any: it goes before the derived one. */
    runId: string | undefined;
    /** Told the id that the key stands for, gives the one to use: another where the request is known to be that other run already. */
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

/** A UUIDv7 of the reservation's instant, whose random part is a hash of what the key belongs to. */
function derivedRunId(owner: { tenantId: string; scope: string; key: string }, reservation: Reservation): string {
  const msecs = reservation.createdAt.getTime();
  const random = createHash('sha256')
    .update(JSON.stringify([owner.tenantId, owner.scope, owner.key, msecs]))
    .digest();
  return v7({ msecs, random });
}
