import type { Context } from '../../operation/context.ts';
import type { Graph, JsonMap } from '../../orchestrator/core/index.ts';
import { invalid } from '../../platform/errors.ts';
import type { Json } from '../../platform/json.ts';
import { readSecretRedactor } from '../connections/known-secrets.ts';
import { MAX_PINNED_RESULT_BYTES, pinsIn, sameJson } from './edits/index.ts';
import type { RunSetup } from './store.ts';
import { projectScope } from './view.ts';

/** The maximum number of pinned results of a draft. */
const MAX_PINNED_RESULTS = 100;

/**
 * Returns the pinned results of steps that the graph has. A pin of a deleted step, or of a step in a loop, has no
 * effect.
 */
export function pinnedIn(graph: Graph, { pinned_results = {} }: Pick<RunSetup, 'pinned_results'>): JsonMap {
  const pins: JsonMap = pinned_results as JsonMap;
  const known = graph.steps.filter(({ id }) => Object.hasOwn(pins, id));
  return Object.fromEntries(known.map(({ id }) => [id, pins[id] ?? null]));
}

/**
 * Returns a run setup without pinned results: they belong only to the draft, not to versions, exports and runs of
 * versions.
 */
export function withoutPins<T extends { readonly pinned_results?: unknown }>(setup: T): Omit<T, 'pinned_results'> {
  const { pinned_results: _, ...rest } = setup;
  return rest;
}

/** Throws AppError 422 with the places if there are too many pinned results, or if one is too large. */
export function acceptPins(runSetup: unknown): void {
  const pins = Object.entries(pinsIn(runSetup));
  if (pins.length > MAX_PINNED_RESULTS) {
    const message = `has more than ${MAX_PINNED_RESULTS} results`;
    throw invalid('Too many results are pinned.', [{ path: 'run_setup.pinned_results', message }]);
  }
  const large = pins.filter(([, result]) => Buffer.byteLength(JSON.stringify(result)) > MAX_PINNED_RESULT_BYTES);
  if (large.length === 0) return;
  const message = `is larger than ${MAX_PINNED_RESULT_BYTES} bytes`;
  const details = large.map(([id]) => ({ path: `run_setup.pinned_results.${id.slice(0, 80)}`, message }));
  throw invalid('A pinned result is too large.', details.slice(0, 50));
}

/**
 * Returns a run setup whose pinned results hold no credential of a connection that the project sees: credentials are
 * redacted as in events. `stored`: the run setup that the draft already has. Throws AppError 503 if the secret store is
 * unavailable.
 */
export async function redactPins(ctx: Context, runSetup: unknown, stored: RunSetup | null): Promise<unknown> {
  const pins = pinsIn(runSetup);
  if (Object.keys(pins).length === 0 || sameJson(pins, pinsIn(stored))) return runSetup;
  const redactor = await readSecretRedactor(ctx.services, projectScope(ctx));
  const entries = Object.entries(pins).map(([id, result]) => [id, redactor.json(result as Json)] as const);
  return { ...(runSetup as object), pinned_results: Object.fromEntries(entries) };
}
