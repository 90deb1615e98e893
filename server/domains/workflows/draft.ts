import type { Context } from '../../api/context.ts';
import type { Graph } from '../../orchestrator/core/graph.ts';
import { checkShape } from '../../orchestrator/validation/shape.ts';
import { invalid } from '../../platform/errors.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import { toDetails } from './problems.ts';

/** Saved run-setup defaults, in bytes of JSON: as much as a run's input. */
const maxRunSetupBytes = 1024 * 1024;

/**
 * What a draft may hold: an incomplete graph, but one that is shaped like a graph, and values that the database can keep.
 * Throws AppError 422 `invalid_graph` or `invalid`, with the places.
 */
export function acceptDraft(ctx: Context, draft: { graph?: unknown; runSetup?: unknown }): void {
  const problem = storageProblem({ graph: draft.graph, run_setup: draft.runSetup });
  if (problem !== null) throw invalid('The workflow holds a value that cannot be stored.', [problem]);
  if (draft.runSetup !== undefined && Buffer.byteLength(JSON.stringify(draft.runSetup)) > maxRunSetupBytes) {
    throw invalid('The run setup is too large.', [
      { path: 'run_setup', message: `is larger than ${maxRunSetupBytes} bytes` },
    ]);
  }
  if (draft.graph === undefined) return;
  // The schema of the operation has seen to it that these are steps with an id and a type.
  const problems = checkShape(draft.graph as Graph, ctx.services.stepTypes);
  if (problems.length > 0) throw invalid('The graph is malformed.', toDetails(problems), 'invalid_graph');
}
