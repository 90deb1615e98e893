import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { compile, type Graph, innerSteps, itemPrefix, templateStep } from '../../../orchestrator/core/index.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireRun, runScope } from '../access/find.ts';
import { foldSteps, type StepState } from '../reading/run-state.ts';
import { toStepSnapshot } from '../reading/snapshot.ts';
import { findGraph } from '../store.ts';
import type { LoopItem, LoopItems, LoopItemsInput } from './schemas.ts';
import { countItems, listItemEvents } from './store.ts';

/** The maximum number of failed items that one answer names. */
const MAX_FAILED = 1_000;

/**
 * GET …/steps/{step_id}/items: returns the progress of the items of a loop, from the item `from` on. Throws AppError
 * 404 for a step that is not a loop of the run.
 */
export async function getLoopItems(
  ctx: Context,
  { step_id: step, from, limit, ...ref }: z.output<typeof LoopItemsInput>,
): Promise<z.input<typeof LoopItems>> {
  const { pool } = ctx.services;
  const run = await requireRun(ctx, ref);
  const version = { tenantId: ctx.principal.tenantId, workflowId: run.workflow_id, version: run.version };
  const graph = await findGraph(pool, version);
  const names = graph === null ? null : namesOfSteps(graph, step);
  if (names === null) throw notFound('Loop');
  const scope = runScope(ctx, ref);
  const counts = await countItems(pool, scope, { step, steps: names.length }, MAX_FAILED);
  const steps = foldSteps(await listItemEvents(pool, scope, { step, from, limit }));
  const total = counts.total ?? 0;
  const numbers = Array.from({ length: Math.max(0, Math.min(limit, total - from)) }, (_, at) => from + at);
  return {
    run_id: run.id,
    step_id: step,
    total: counts.total,
    ended: counts.ended,
    failed: counts.failed_count,
    failed_items: counts.failed,
    items: numbers.map(index => toItem(index, names, steps, step)),
  };
}

/** Returns the names of a loop's steps in the order of the graph; null if no loop has this id. */
function namesOfSteps(graph: Graph, step: string): string[] | null {
  const inner = templateStep(compile(graph), step)?.spec;
  return inner === undefined ? null : (innerSteps(inner)?.map(({ id }) => id) ?? null);
}

function toItem(
  index: number,
  names: readonly string[],
  steps: ReadonlyMap<string, StepState>,
  loop: string,
): z.input<typeof LoopItem> {
  const own = names.flatMap(name => steps.get(`${itemPrefix(loop, index)}${name}`) ?? []);
  return { index, status: statusOf(own, names.length), steps: own.map(toStepSnapshot) };
}

function statusOf(steps: readonly StepState[], count: number): z.input<typeof LoopItem>['status'] {
  if (steps.some(({ status, continues }) => status === 'failed' && !continues)) return 'failed';
  if (steps.some(({ status }) => status === 'cancelled')) return 'cancelled';
  if (steps.length === count && steps.every(({ endedAt }) => endedAt !== null)) return 'completed';
  return steps.some(({ attempts }) => attempts.length > 0) ? 'running' : 'pending';
}
