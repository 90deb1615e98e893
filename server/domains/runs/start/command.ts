import type { Pool } from 'pg';
import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { RunSnapshot } from '../../../orchestrator/ports/orchestrator.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { invalid } from '../../../platform/errors.ts';
import { formatTraceparent, parseTraceparent } from '../../../platform/telemetry/trace-context.ts';
import { actorOf, carriedScopes } from '../../identity/authority.ts';
import { runScope } from '../access/find.ts';
import { findRun, type RunScope } from '../store.ts';
import { idempotencyKey, once } from './idempotency.ts';
import { type CommandInput, CommandOutput, PauseParams, StopParams } from './schemas.ts';
import { startRun } from './start.ts';

type Input = z.output<typeof CommandInput>;
type Output = z.input<typeof CommandOutput>;

/** Starts, pauses, resumes or stops a run (docs/specification/runs.md#commands). */
export async function executeCommand(ctx: Context, input: Input): Promise<Output> {
  const { orchestrator } = ctx.services;
  const by = ctx.principal.email;
  switch (input.command) {
    case 'start':
      return startLatest(ctx, input);
    case 'pause':
    case 'resume': {
      const { run_id } = parseParams(PauseParams, input.params);
      const ref = runScope(ctx, { id: input.id, runID: run_id });
      return withPhase(await orchestrator.command(ref, { type: input.command, by }));
    }
    case 'stop': {
      const { run_id, mode } = parseParams(StopParams, input.params);
      const ref = runScope(ctx, { id: input.id, runID: run_id });
      return withPhase(await orchestrator.command(ref, { type: 'stop', mode, by }));
    }
  }
}

/** Returns the default trigger type of a run, for a caller that names none (docs/specification/runs.md#run-record). */
export function triggerTypeOf(ctx: Context): string {
  switch (ctx.surface) {
    case 'mcp':
      return 'mcp';
    case 'trpc':
      return 'manual';
    case 'rest':
      return ctx.principal.credential.kind === 'pat' ? 'api' : 'manual';
  }
}

/** Returns the trace context of the request, if this service traces. */
export function callersTrace(ctx: Pick<Context, 'services' | 'headers'>): { traceparent?: string } {
  const given = ctx.services.config.tracing === null ? undefined : ctx.headers.get('traceparent');
  const traceparent = parseTraceparent(given);
  return traceparent === undefined ? {} : { traceparent: formatTraceparent(traceparent) };
}

/** Returns the answer to a start. */
export function toStarted(run: RunSnapshot): Output {
  return {
    run_id: run.runId,
    status: run.status,
    workflow_id: run.workflowId,
    started_at: isoTimestamp(run.startedAt),
  };
}

/**
 * Starts a run of the latest version, once for each `Idempotency-Key`. Throws what `startRun` and `startOncePerKey` throw.
 */
export async function startLatest(ctx: Context, input: Pick<Input, 'id' | 'params'>): Promise<Output> {
  const { tenantId, projectId, email } = ctx.principal;
  const begin = async (runId?: string) =>
    toStarted(
      await startRun(ctx.services, {
        tenantId,
        projectId,
        workflowId: input.id,
        params: input.params,
        defaultTriggerType: triggerTypeOf(ctx),
        startedBy: email,
        carried: [carriedScopes(ctx.principal)],
        actsFor: actorOf(ctx.principal),
        ...callersTrace(ctx),
        runId,
      }),
    );
  // The project is part of the scope: a caller who cannot see the workflow must not learn anything about its keys.
  const scope = `workflow:${input.id}:${projectId}`;
  return startOncePerKey(
    ctx,
    { id: input.id, scope, request: { command: 'start', params: input.params }, givenId: input.params.run_id },
    begin,
  );
}

/**
 * A start that an `Idempotency-Key` may repeat: its workflow, the scope in which the key is unique, and the data that
 * must be equal in a repeated request.
 */
type KeyedStart = { id: string; scope: string; request: unknown; givenId: unknown };

/**
 * Starts a run with `begin`, once for each `Idempotency-Key`, or each time if the request has none. Throws AppError 422
 * `invalid_idempotency_key`, 409 `idempotency_key_reused`, and what `begin` throws.
 */
export async function startOncePerKey(
  ctx: Context,
  { id, scope, request, givenId }: KeyedStart,
  begin: (runId?: string) => Promise<Output>,
): Promise<Output> {
  const { tenantId } = ctx.principal;
  const key = idempotencyKey(ctx.headers);
  if (key === null) return begin();
  const given = CommandOutput.shape.run_id.safeParse(givenId);
  const response = await once(
    ctx.services,
    { tenantId, scope, key, request },
    {
      start: begin,
      find: (runId, notBefore) => findStarted(ctx.services.pool, runScope(ctx, { id, runID: runId }), notBefore),
      runId: given.success ? given.data : undefined,
    },
  );
  return CommandOutput.parse(response);
}

/**
 * Returns the answer to the start of an existing run, if it started no earlier than `notBefore` (null: at any time).
 */
export async function findStarted(pool: Pool, scope: RunScope, notBefore: Date | null): Promise<Output | null> {
  const run = await findRun(pool, scope);
  if (run === null || (notBefore !== null && run.started_at < notBefore)) return null;
  return {
    run_id: run.id,
    status: 'running',
    workflow_id: run.workflow_id,
    started_at: isoTimestamp(run.started_at.getTime()),
  };
}

function withPhase(run: RunSnapshot): Output {
  return { ...toStarted(run), orchestration_phase: run.phase };
}

function parseParams<S extends z.ZodType>(schema: S, params: unknown): z.output<S> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data;
  throw invalid(
    'The params of the command are invalid.',
    parsed.error.issues.map(issue => ({
      path: ['params', ...issue.path.map(String)].join('.'),
      message: issue.message,
    })),
  );
}
