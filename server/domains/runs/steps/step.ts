import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { type Graph, type GraphStep, innerSteps, type JsonValue } from '../../../orchestrator/core/index.ts';
import { Rendering, type TemplateScope } from '../../../orchestrator/languages/rendering.ts';
import { collectReferences, hasTemplate } from '../../../orchestrator/languages/templates.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireRun } from '../access/find.ts';
import { findGraph } from '../store.ts';
import { readRecordedValues } from '../values/recorded.ts';
import { type AddedStep, argumentsOf, findAddedStep } from './added-step.ts';
import type { RunStep, RunStepInput } from './schemas.ts';

/** The maximum number of bytes of results that one answer reads. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
/** The maximum number of bytes of a resolved value. A larger value is left out; it can be read at its source. */
const MAX_SHOWN_BYTES = 64 * 1024;
/** The maximum number of resolved values in one answer. */
const MAX_RESOLVED = 100;

type Resolved = z.input<typeof RunStep>['resolved'][number];

/**
 * GET …/steps/{step_id}: a step as the run executed it, with its result and the values that its fields read. The values
 * are computed from the log, because results and input never change. Throws AppError 404.
 */
export async function getStep(ctx: Context, input: z.output<typeof RunStepInput>): Promise<z.input<typeof RunStep>> {
  const { pool } = ctx.services;
  const run = await requireRun(ctx, input);
  const version = { tenantId: ctx.principal.tenantId, workflowId: run.workflow_id, version: run.version };
  const graph = await findGraph(pool, version);
  const found = graph === null ? null : await findStep(ctx, run.id, graph, input.step_id);
  if (found === null) throw notFound('Step');
  const { definition: published, fullId, item, call } = found;
  const { id, type, depends_on } = published;
  const read = readBy(ctx, published);
  const named = [...read, ...templatesOf(published)].map(fullId);
  const only = [...named, id, ...(call === null ? [] : [call.turn, call.approval])];
  const { started, results } = await readRecordedValues(pool, run.id, MAX_READ_BYTES, only);
  const override = Object.hasOwn(started.trigger_steps, id) ? started.trigger_steps[id] : {};
  const definition = { ...published, ...override, id, type, ...(depends_on && { depends_on }) };
  const resultOf = (step: string): JsonValue =>
    results.get(step)?.value ?? (Object.hasOwn(started.seed_results, step) ? started.seed_results[step] : null) ?? null;
  const scope: TemplateScope = { input: started.input, result: step => resultOf(fullId(step)), item };
  const own = results.get(id);
  const reused = own === undefined && Object.hasOwn(started.seed_results, id);
  return {
    run_id: run.id,
    step_id: id,
    definition,
    resolved:
      call === null
        ? resolve(ctx, definition, scope, read)
        : [resolved('arguments', () => argumentsOf(call, resultOf))],
    has_result: own !== undefined || reused,
    result: own?.value ?? (reused ? resultOf(id) : null) ?? null,
    ...(own?.ref && { result_ref: own.ref }),
    reused,
  };
}

/** Returns a step of the graph, or a step that was added to the run; null if neither has this id. */
async function findStep(ctx: Context, runId: string, graph: Graph, step: string): Promise<AddedStep | null> {
  const definition = graph.steps.find(({ id }) => id === step);
  if (definition === undefined) return findAddedStep(ctx.services.pool, runId, graph, step);
  return { definition, fullId: name => name, item: null, call: null };
}

/** Returns the ids of the steps that the script or expression of a step reads; empty if it may read any step. */
function readBy(ctx: Context, step: GraphStep): string[] {
  try {
    const steps = ctx.services.stepTypes.get(step.type)?.reads?.(step) ?? [];
    return steps === 'all' ? [] : [...new Set(steps)];
  } catch {
    return []; // an old version may not parse under newer rules
  }
}

/** Returns the fields of the step, without the inner steps of a loop, which read values for each item. */
function withoutInnerSteps(step: GraphStep): GraphStep {
  if (innerSteps(step) === null) return step;
  const { steps: _steps, ...own } = step;
  return own as GraphStep;
}

function templatesOf(step: GraphStep): string[] {
  return collectReferences({ ...withoutInnerSteps(step) } as JsonValue).flatMap(found =>
    'reference' in found && found.reference.step !== null ? [found.reference.step] : [],
  );
}

function resolve(ctx: Context, step: GraphStep, scope: TemplateScope, read: readonly string[]): Resolved[] {
  const raw = new Set(ctx.services.stepTypes.get(step.type)?.rawFields ?? []);
  const rendering = new Rendering(scope);
  const found: Resolved[] = [];
  const inText = new Set<string>();
  for (const [field, value] of Object.entries(withoutInnerSteps(step))) {
    if (value === undefined || !hasTemplate(JSON.stringify(value))) continue;
    if (!raw.has(field)) {
      found.push(resolved(field, () => rendering.value(field, value)));
      continue;
    }
    for (const each of collectReferences(value)) {
      if (!('reference' in each) || inText.has(each.reference.text)) continue;
      inText.add(each.reference.text);
      const { text } = each.reference;
      found.push(resolved(text, () => rendering.value(text, `{{${text}}}`)));
    }
  }
  // A template shows the values that it reads, so they are not listed again.
  const templated = new Set(templatesOf(step));
  for (const id of read) {
    if (!templated.has(id)) found.push(resolved(`steps.${id}.result`, () => scope.result(id)));
  }
  return found.slice(0, MAX_RESOLVED);
}

function resolved(name: string, value: () => JsonValue): Resolved {
  try {
    const found = value();
    const bytes = Buffer.byteLength(JSON.stringify(found));
    if (bytes <= MAX_SHOWN_BYTES) return { name, value: found, problem: null };
    return { name, value: null, problem: `The value has ${Math.ceil(bytes / 1024)} KiB and is not shown.` };
  } catch (error) {
    return { name, value: null, problem: error instanceof Error ? error.message : String(error) };
  }
}
