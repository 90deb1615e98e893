import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import { isoTimestamp, MINUTE_MS } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto/digest.ts';
import { AppError, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { countMatching } from './match-store.ts';
import type { PreviewStopInput, PreviewStopOutput, StopFilter, StopJob, StopRunsInput } from './schemas.ts';
import { findMissing } from './scope-store.ts';
import { deleteOldStops, insertStop, type NewStop, type StopMode, type StopRow } from './store.ts';

/** The time after the request in which new runs match, too. */
const MATCHING_MS = 10 * MINUTE_MS;
/** The most unfinished bulk stops of a tenant. */
const MAX_UNFINISHED = 20;
/** The number of finished bulk stops of a tenant that are kept. */
const KEPT = 100;
const MAX_COUNTED = 100_000;

/** The person, or the operator, that requests a bulk stop. */
type Requested = { tenantId: string; filter: StopFilter; mode: StopMode; requestedBy: string };

/**
 * Requests to stop the matching active runs of a tenant, a few per pass. Returns the unfinished bulk stop of an equal
 * request. Throws AppError 404 for a project, workflow or run that the tenant does not have, 429 `too_many_stops`.
 */
export async function requestStop(
  { pool, clock }: Pick<Services, 'pool' | 'clock'>,
  { tenantId, filter, mode, requestedBy }: Requested,
): Promise<StopRow> {
  await requireNamed(pool, tenantId, filter);
  const ids = filter.workflow_ids;
  const stored = ids === undefined ? filter : { ...filter, workflow_ids: [...new Set(ids)].sort() };
  const digest = sha256(JSON.stringify([stored, mode])).toString('hex');
  const requestedAt = new Date(clock.now());
  const matchingUntil = new Date(clock.now() + MATCHING_MS);
  const act = { action: 'stop', version: null, requester: null } as const;
  const asked = {
    id: newId(),
    tenantId,
    filter: stored,
    mode,
    digest,
    requestedBy,
    requestedAt,
    matchingUntil,
    ...act,
  };
  return insertWithin(pool, asked);
}

/** Inserts a bulk action. Throws AppError 429 `too_many_stops`. */
export async function insertWithin(pool: Services['pool'], asked: NewStop): Promise<StopRow> {
  const stop = await insertStop(pool, asked, MAX_UNFINISHED);
  if (stop === null) throw tooMany();
  await deleteOldStops(pool, asked.tenantId, KEPT);
  return stop;
}

const tooMany = () =>
  new AppError(429, 'too_many_stops', `The workspace has ${MAX_UNFINISHED} unfinished bulk stops already.`, {
    headers: { 'Retry-After': '10' },
  });

/** Throws AppError 404 for a project, workflow or run that the tenant does not have. */
export async function requireNamed(pool: Services['pool'], tenantId: string, filter: StopFilter): Promise<void> {
  const missing = await findMissing(pool, tenantId, filter);
  if (missing !== null) throw notFound(missing);
}

/** Returns the filter of a caller. A token is restricted to its project. */
function ownFilter({ principal }: Context, filter: StopFilter): StopFilter {
  const { projectId, credential } = principal;
  if (credential.kind !== 'pat') return filter;
  if (filter.project_id !== undefined && filter.project_id !== projectId) throw notFound('Project');
  return { ...filter, project_id: projectId };
}

/** POST /v1/runs/stop: see `requestStop`. */
export async function stopRuns(
  ctx: Context,
  { filter, mode }: z.output<typeof StopRunsInput>,
): Promise<z.input<typeof StopJob>> {
  const { tenantId, email } = ctx.principal;
  return toJob(await requestStop(ctx.services, { tenantId, filter: ownFilter(ctx, filter), mode, requestedBy: email }));
}

/** POST /v1/runs/stop-preview: counts the matching active runs. Throws AppError 404 like `requestStop`. */
export async function previewStop(
  ctx: Context,
  input: z.output<typeof PreviewStopInput>,
): Promise<z.input<typeof PreviewStopOutput>> {
  const { pool } = ctx.services;
  const { tenantId } = ctx.principal;
  const filter = ownFilter(ctx, input.filter);
  await requireNamed(pool, tenantId, filter);
  const found = await countMatching(pool, tenantId, { action: 'stop', filter }, MAX_COUNTED + 1);
  return { matching: Math.min(found, MAX_COUNTED), capped: found > MAX_COUNTED };
}

/** Returns a bulk stop as every surface shows it. */
export function toJob(row: StopRow): z.input<typeof StopJob> {
  const { matched, stopped, failed } = row;
  return {
    stop_id: row.id,
    state: row.finishedAt === null ? 'working' : 'finished',
    mode: row.mode,
    filter: row.filter as StopFilter,
    requested_by: row.requestedBy,
    requested_at: isoTimestamp(row.requestedAt.getTime()),
    finished_at: row.finishedAt && isoTimestamp(row.finishedAt.getTime()),
    matched,
    stopped,
    already_ended: row.alreadyEnded,
    failed,
    remaining: matched - stopped - row.alreadyEnded - failed,
  };
}
