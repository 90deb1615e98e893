import type { Pool } from 'pg';
import type { Graph, JsonMap, JsonValue, StepError } from '../../../orchestrator/core/index.ts';
import {
  RenderedTooLarge,
  Rendering,
  TemplateKeyInvalid,
  TemplateUnresolved,
} from '../../../orchestrator/languages/rendering.ts';
import { collectReferences, type Reference, TemplateSyntaxError } from '../../../orchestrator/languages/templates.ts';
import { findStepErrors } from '../store.ts';
import { type RecordedValues, readRecordedValues } from './recorded.ts';

/** The maximum number of bytes of JSON in an output: four results of the largest size. */
const MAX_OUTPUT_BYTES: number = 4 * 1024 * 1024;

/** The output of a run, or the reason why a completed run has none. */
export type RunOutput = { output: JsonValue; output_error: { code: string; message: string } | null };

/** The output of a run that has not completed. */
export const NO_OUTPUT: RunOutput = { output: null, output_error: null };

/**
 * Returns the output of a run that has completed (docs/specification/runs.md#output). It is computed from the
 * log each time: results never change, so storing it would only write a large value twice. Reads only the
 * results that the output needs.
 */
export async function readOutput(pool: Pool, runId: string, graph: Graph): Promise<RunOutput> {
  return graph.output === undefined
    ? readLastResults(pool, runId, graph)
    : readTemplate(pool, runId, graph, graph.output);
}

/** Returns the ids of the steps that no other step depends on, in the order of the graph. */
function lastSteps({ steps }: Graph): string[] {
  const depended = new Set(steps.flatMap(({ depends_on }) => depends_on ?? []));
  return steps.map(({ id }) => id).filter(id => !depended.has(id));
}

async function readLastResults(pool: Pool, runId: string, graph: Graph): Promise<RunOutput> {
  const last = lastSteps(graph);
  const recorded = await readRecordedValues(pool, runId, MAX_OUTPUT_BYTES, last);
  const results: [string, JsonValue][] = [];
  for (const step of last) {
    const found = resultOf(recorded, step);
    if (found === STORED) return TOO_LARGE;
    if (found !== undefined) results.push([step, found]);
  }
  // Whether the output is an object depends only on the graph, not on the branches that a run took.
  const output = last.length === 1 ? (results[0]?.[1] ?? null) : Object.fromEntries(results);
  return Buffer.byteLength(JSON.stringify(output)) > MAX_OUTPUT_BYTES ? TOO_LARGE : { output, output_error: null };
}

async function readTemplate(pool: Pool, runId: string, graph: Graph, template: JsonValue): Promise<RunOutput> {
  const references = collectReferences(template).flatMap(found => ('reference' in found ? [found.reference] : []));
  const recorded = await readRecordedValues(pool, runId, MAX_OUTPUT_BYTES, stepsOf(references));
  const failed = references.filter(({ error }) => error);
  const errors = failed.length === 0 ? NO_ERRORS : await findStepErrors(pool, runId, stepsOf(failed));
  const known = new Set(graph.steps.map(({ id }) => id));
  const rendering = new Rendering({
    input: recorded.started.input,
    result: step => {
      if (!known.has(step)) throw new Error(`The graph has no step "${step}".`);
      const found = resultOf(recorded, step);
      if (found === STORED) throw new RenderedTooLarge('output', MAX_OUTPUT_BYTES);
      return found ?? null;
    },
    errorOf: step => errors.get(step),
  });
  try {
    return { output: rendering.value('output', template, MAX_OUTPUT_BYTES), output_error: null };
  } catch (error) {
    if (error instanceof RenderedTooLarge) return TOO_LARGE;
    if (error instanceof TemplateKeyInvalid)
      return { output: null, output_error: { code: 'template_key_invalid', message: error.message } };
    if (!(error instanceof TemplateUnresolved) && !(error instanceof TemplateSyntaxError)) throw error;
    return { output: null, output_error: { code: 'template_unresolved', message: error.message } };
  }
}

const stepsOf = (references: readonly Reference[]): string[] => [
  ...new Set(references.flatMap(({ step }) => (step === null ? [] : [step]))),
];

/** Replaces a result that was not read because it does not fit into the output. */
const STORED = Symbol('stored');

/** Returns the result of a step, from the run or seeded; undefined if it has none: skipped, failed or cancelled. */
function resultOf({ started, results }: RecordedValues, step: string): JsonValue | typeof STORED | undefined {
  const found = results.get(step);
  if (found !== undefined) return found.ref === undefined ? found.value : STORED;
  const seeds: JsonMap = started.seed_results;
  return Object.hasOwn(seeds, step) ? seeds[step] : undefined;
}

const NO_ERRORS: ReadonlyMap<string, StepError> = new Map();
const TOO_LARGE: RunOutput = {
  output: null,
  output_error: {
    code: 'output_too_large',
    message: `The output is larger than ${MAX_OUTPUT_BYTES / 1024 / 1024} MiB. The results of the steps have its values.`,
  },
};
