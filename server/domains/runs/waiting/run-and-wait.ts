import type { z } from 'zod';
import type { Context, PublicContext } from '../../../operation/context.ts';
import { forbidden } from '../../../platform/errors.ts';
import { startLatest } from '../start/command.ts';
import type { CommandOutput } from '../start/schemas.ts';
import { findGraph, findRun, type RunRow, type RunScope } from '../store.ts';
import { readOutput } from '../values/output.ts';
import { type RunEnd, runEndsOf } from './run-ends.ts';
import type { RunInput, RunResult } from './schemas.ts';

type Started = z.input<typeof CommandOutput>;
type Result = z.input<typeof RunResult>;
type Waiting = { services: PublicContext['services']; onDisconnect?: PublicContext['onDisconnect'] | undefined };

/**
 * POST /v1/workflows/{id}/run: starts a run of the latest version and waits up to `wait_s` seconds for its end. The
 * answer has the output if the run has ended, otherwise only its id. Throws AppError 403 `insufficient_scope` for a
 * token that waits without `workflow:read`, 429 `too_many_waiting`, and what any start throws.
 */
export async function runAndWait(ctx: Context, input: z.output<typeof RunInput>): Promise<Result> {
  const { id, wait_s, params } = input;
  if (wait_s === 0) return startLatest(ctx, { id, params });
  const { tenantId, projectId, credential } = ctx.principal;
  if (credential.kind === 'pat' && !credential.scopes.includes('workflow:read')) {
    throw forbidden('Waiting for the output needs a token with the scope workflow:read.', 'insufficient_scope');
  }
  const release = runEndsOf(ctx.services).reserve(tenantId);
  try {
    const started = await startLatest(ctx, { id, params });
    return await withOutput(ctx, { tenantId, projectId, workflowId: id }, started, wait_s * 1000);
  } finally {
    release();
  }
}

/**
 * Waits for the end of a run that was started, and returns the answer to its start with the output. If the time is up
 * or the process stops before the run has ended, returns the answer without the output. The caller must have reserved a
 * place.
 */
export async function withOutput(
  { services, onDisconnect }: Waiting,
  scope: Omit<RunScope, 'runId'>,
  started: Started,
  timeoutMs: number,
): Promise<Result> {
  const { pool } = services;
  const ref = { ...scope, runId: started.run_id };
  const end = await endOf({ services, onDisconnect }, ref, timeoutMs);
  if (end === null) return started;
  const { status, error } = end;
  if (status !== 'completed') return { ...started, status, output: null, output_error: null, error };
  const run = await findRun(pool, ref);
  const graph = run && (await findGraph(pool, { ...scope, version: run.version }));
  if (graph === null) throw new Error(`Run ${ref.runId} is of a version that does not exist.`);
  return { ...started, status, ...(await readOutput(pool, ref.runId, graph)), error: null };
}

/** Waits up to `timeoutMs` for the end of a run; null if it has not ended. The caller must have reserved a place. */
function endOf({ services, onDisconnect }: Waiting, ref: RunScope, timeoutMs: number): Promise<RunEnd | null> {
  const find = async () => {
    const run = await findRun(services.pool, ref);
    return run === null ? null : endOfRow(run);
  };
  return runEndsOf(services).wait(ref, { timeoutMs, onDisconnect, find });
}

/** Waits up to `wait_s` seconds for the end of a run. Throws AppError 429 `too_many_waiting`. */
export async function awaitEnd({ services, onDisconnect }: Waiting, ref: RunScope, wait_s: number): Promise<void> {
  const release = runEndsOf(services).reserve(ref.tenantId);
  try {
    await endOf({ services, onDisconnect }, ref, wait_s * 1000);
  } finally {
    release();
  }
}

function endOfRow({ status, error }: RunRow): RunEnd | null {
  return status === 'running' || status === 'paused' ? null : { status, error };
}
