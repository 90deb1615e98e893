import { checkShape } from '../../orchestrator/validation/index.ts';
import { invalid } from '../../platform/errors.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import { acceptPins } from './pinned-results.ts';
import { toDetails } from './problems.ts';

/** The maximum number of bytes of JSON in the saved defaults of a run setup: as many as in a run's input. */
const MAX_RUN_SETUP_BYTES = 1024 * 1024;

/**
 * Checks a draft: its graph may be incomplete, but it must have the form of a graph, and hold only values that the
 * database can store. Throws AppError 422 `invalid_graph` or `invalid`, with the places.
 */
export function acceptDraft(draft: { graph?: unknown; runSetup?: unknown }): void {
  if (draft.runSetup !== undefined) acceptRunSetup(draft.runSetup);
  if (draft.graph === undefined) return;
  const problems = checkShape(draft.graph);
  if (problems.length > 0) throw invalid('The graph is malformed.', toDetails(problems), 'invalid_graph');
}

function acceptRunSetup(runSetup: unknown): void {
  const problem = storageProblem({ run_setup: runSetup });
  if (problem !== null) throw invalid('The run setup contains a value that cannot be stored.', [problem]);
  acceptPins(runSetup);
  if (Buffer.byteLength(JSON.stringify(runSetup)) <= MAX_RUN_SETUP_BYTES) return;
  const detail = { path: 'run_setup', message: `is larger than ${MAX_RUN_SETUP_BYTES} bytes` };
  throw invalid('The run setup is too large.', [detail]);
}
