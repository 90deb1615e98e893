import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { cutPage, decodeCursor, TimeIdKey } from '../../operation/cursor.ts';
import { isoTimestamp } from '../../platform/clock.ts';
import { sha256 } from '../../platform/crypto/digest.ts';
import { invalid, notFound } from '../../platform/errors.ts';
import { newId } from '../../platform/ids.ts';
import { currentLineage } from '../../platform/lineage.ts';
import { actorOf, carriedScopes } from '../identity/authority.ts';
import { editNeeded, mayEdit } from '../runs/start/override-rights.ts';
import type { BulkAction, Requester } from './actions.ts';
import { countMatching } from './match-store.ts';
import { insertWithin, requireNamed } from './request.ts';
import {
  type BulkFilter,
  type BulkJob,
  type BulkRef,
  type ListBulkOutput,
  type ListStopsInput,
  MAX_STARTS,
  type PreviewBulkInput,
  type PreviewBulkOutput,
  type StartBulkInput,
} from './schemas.ts';
import { findMissingRun } from './scope-store.ts';
import { findStop, listStops, type MatchFilter, type StopRow } from './store.ts';

const MAX_COUNTED = 100_000;

type Job = z.input<typeof BulkJob>;

/**
 * POST /v1/runs/bulk: stops, repeats or continues the matching runs of the caller's project, a few per pass. Returns the unfinished job of an
 * equal request. Throws AppError 404, 403 `insufficient_scope`, 422 `too_many_runs`, 429 `too_many_stops`.
 */
export async function startBulk(ctx: Context, input: z.output<typeof StartBulkInput>): Promise<Job> {
  const { services, principal } = ctx;
  const { tenantId, projectId, email } = principal;
  const { action, mode = 'immediate', version } = input;
  if (version !== undefined && !mayEdit([carriedScopes(principal)]))
    throw editNeeded('Continuing runs with another version', []);
  const filter = await ownFilter(ctx, input.filter);
  if (action !== 'stop') await requireFew(ctx, action, filter);
  const actsFor = actorOf(principal);
  // Equal requests of different people are different jobs, because each starts runs with the rights of its requester.
  const compared = [filter, mode, action, version ?? null, action === 'stop' ? null : actsFor];
  const requester: Requester = { actsFor, surface: ctx.surface, lineage: currentLineage() };
  const now = services.clock.now();
  const row = await insertWithin(services.pool, {
    id: newId(),
    tenantId,
    filter: matchFilter(filter, projectId),
    mode,
    action,
    version: version ?? null,
    requester,
    digest: sha256(JSON.stringify(compared)).toString('hex'),
    requestedBy: email,
    requestedAt: new Date(now),
    matchingUntil: new Date(now),
  });
  return toBulkJob(row);
}

/** POST /v1/runs/bulk-preview: counts the matching runs. Throws AppError 404. */
export async function previewBulk(
  ctx: Context,
  input: z.output<typeof PreviewBulkInput>,
): Promise<z.input<typeof PreviewBulkOutput>> {
  const filter = await ownFilter(ctx, input.filter);
  const found = await count(ctx, { action: input.action, filter }, MAX_COUNTED + 1);
  return { matching: Math.min(found, MAX_COUNTED), capped: found > MAX_COUNTED };
}

/** GET /v1/runs/bulk/{job_id}: the progress of a bulk action of the caller's project. Throws AppError 404. */
export async function getBulk({ services, principal }: Context, { job_id }: z.output<typeof BulkRef>): Promise<Job> {
  const row = await findStop(services.pool, principal.tenantId, job_id);
  if (row === null || row.filter.project_id !== principal.projectId || row.requester === null) throw notFound('Job');
  return toBulkJob(row);
}

/** GET /v1/runs/bulk: the bulk actions of the caller's project, newest first. */
export async function listBulk(
  { services, principal }: Context,
  { cursor, limit }: z.output<typeof ListStopsInput>,
): Promise<z.input<typeof ListBulkOutput>> {
  const key = decodeCursor(TimeIdKey, cursor);
  const after = key && { at: new Date(key[0]), id: key[1] };
  const { tenantId, projectId } = principal;
  const rows = await listStops(services.pool, tenantId, { after, limit: limit + 1, projectId });
  const page = cutPage(rows, limit, row => [row.requestedAt.getTime(), row.id]);
  return { jobs: page.rows.map(toBulkJob), next_cursor: page.next_cursor };
}

/** Returns the filter with each id once. Throws AppError 404 for a workflow or run that the caller's project does not have. */
async function ownFilter({ services, principal }: Context, filter: BulkFilter): Promise<BulkFilter> {
  const { workflow_ids, run_ids } = filter;
  const { tenantId, projectId } = principal;
  await requireNamed(services.pool, tenantId, { project_id: projectId, workflow_ids });
  if (run_ids !== undefined && (await findMissingRun(services.pool, { tenantId, projectId }, run_ids)))
    throw notFound('Run');
  const unique = (ids: readonly string[]) => [...new Set(ids)].sort();
  return {
    ...filter,
    ...(workflow_ids && { workflow_ids: unique(workflow_ids) }),
    ...(run_ids && { run_ids: unique(run_ids) }),
  };
}

type Counted = { action: BulkAction; filter: BulkFilter };

function count({ services, principal }: Context, { action, filter }: Counted, limit: number): Promise<number> {
  const { tenantId, projectId } = principal;
  return countMatching(services.pool, tenantId, { action, filter: matchFilter(filter, projectId) }, limit);
}

/** Returns the filter for the store. As in lists, runs of agents and of the chat match only by workflow or by id. */
function matchFilter(filter: BulkFilter, project_id: string): MatchFilter {
  const isNamed = filter.workflow_ids !== undefined || filter.run_ids !== undefined;
  return { ...filter, project_id, ...(!isNamed && { kind: 'workflow' }) };
}

async function requireFew(ctx: Context, action: BulkAction, filter: BulkFilter): Promise<void> {
  if ((await count(ctx, { action, filter }, MAX_STARTS + 1)) <= MAX_STARTS) return;
  const message = `More than ${MAX_STARTS.toLocaleString('en')} runs match: a bulk action starts no more. Narrow the filter.`;
  throw invalid(message, [{ path: 'filter', message: 'matches too many runs' }], 'too_many_runs');
}

function toBulkJob(row: StopRow): Job {
  const { matched, stopped, alreadyEnded, failed, filter } = row;
  const { run_ids, workflow_ids, status, from, to, test, q, field } = filter;
  return {
    job_id: row.id,
    action: row.action,
    state: row.finishedAt === null ? 'working' : 'finished',
    filter: { run_ids, workflow_ids, status, from, to, test, q, field, project_id: filter.project_id ?? '' },
    requested_by: row.requestedBy,
    requested_at: isoTimestamp(row.requestedAt.getTime()),
    finished_at: row.finishedAt && isoTimestamp(row.finishedAt.getTime()),
    matched,
    done: stopped,
    passed: alreadyEnded,
    failed,
    remaining: matched - stopped - alreadyEnded - failed,
    first_error: row.firstError,
  };
}
