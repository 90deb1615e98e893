import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { readEvents, toWireEvent } from '../../../orchestrator/log/index.ts';
import { notFound } from '../../../platform/errors.ts';
import { runScope } from '../access/find.ts';
import { requireReader } from '../access/readers.ts';
import { findRejection, findRun } from '../store.ts';
import type { ListEventsInput, ListEventsOutput } from './schemas.ts';
import { rejectedEvent } from './selection.ts';

/** The events of failed attempts. A refused start counts as one. */
const FAILURE_EVENTS = ['step_failed', 'step_retrying'];

type Output = z.input<typeof ListEventsOutput>;

/**
 * Returns the events of a run, oldest first. `next_cursor` is a `seq`, so it may also be sent as `after`. Under the id
 * of a refused start, the log consists of its `run_rejected`.
 */
export async function listEvents(ctx: Context, input: z.output<typeof ListEventsInput>): Promise<Output> {
  const { pool } = ctx.services;
  const after = input.cursor ?? input.after ?? 0;
  const scope = runScope(ctx, input);
  const run = await findRun(pool, scope);
  if (run === null) {
    const rejection = await findRejection(pool, scope);
    if (rejection === null) throw notFound('Run');
    const matches = after < 1 && input.step_id === undefined && !input.q;
    return { events: matches ? [rejectedEvent(rejection)] : [], next_cursor: null };
  }
  await requireReader(ctx, run);
  const events = await readEvents(pool, {
    tenantId: scope.tenantId,
    runId: scope.runId,
    after,
    limit: input.limit + 1,
    stepId: input.step_id,
    ...(input.failures && { types: FAILURE_EVENTS }),
    ...(input.q && { contains: input.q }),
  });
  // Every log has at least one event: retention deleted the run between the two queries.
  const unfiltered = input.step_id === undefined && input.failures === undefined && !input.q;
  if (events.length === 0 && after < 1 && unfiltered) throw notFound('Run');
  const shown = events.slice(0, input.limit);
  const last = shown.at(-1);
  return {
    events: shown.map(toWireEvent),
    next_cursor: events.length > shown.length && last !== undefined ? String(last.seq) : null,
  };
}
