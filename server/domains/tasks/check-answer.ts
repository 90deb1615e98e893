import type { Context } from '../../operation/context.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { PERSON } from '../../orchestrator/steps/agent/ask-user.ts';
import { digestOf } from '../../orchestrator/steps/agent/turn-result.ts';
import { validateForm } from '../../orchestrator/steps/form.ts';
import { decidedAnswer } from '../../orchestrator/steps/on-lost.ts';
import { unknownFields } from '../../orchestrator/steps/unknown-fields.ts';
import { type ErrorDetail, invalid } from '../../platform/errors.ts';
import { isObject } from '../../platform/json.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import { findAskedCall } from '../agents/grants/asked-call.ts';
import { argumentProblems } from '../mcp-servers/calls/input-schema.ts';
import type { TaskRow } from './store.ts';

/** The maximum number of bytes of JSON in `result`, which becomes a part of the step's result. */
const MAX_RESULT_BYTES = 1024 * 1024 - 4096;
const MAX_COMMENT_LENGTH = 4_000;

type Answer = { approved: boolean; result: JsonMap | undefined };

/**
 * Returns the result of an answer in the form that the run reads. Every kind of task is answered through this function.
 * Throws AppError 422 for a field that the task does not have, for a missing decision, and for arguments that do not
 * fit their tool; the task then stays pending.
 */
export async function checkAnswer(ctx: Context, task: TaskRow, given: Answer): Promise<JsonMap> {
  checkSize(given.result);
  const decided = decidedAnswer(task.form, given);
  if ('problem' in decided) throw refused([{ path: decided.path, message: decided.problem }]);
  const { result } = decided;
  checkForm(task, { ...given, result });
  return checkArguments(ctx, task, result ?? {});
}

function checkSize(result: JsonMap | undefined): void {
  const problem = storageProblem(result ?? {});
  if (problem !== null) {
    const detail = { ...problem, path: problem.path === '' ? 'result' : `result.${problem.path}` };
    throw invalid('The result contains a value that cannot be stored.', [detail]);
  }
  if (Buffer.byteLength(JSON.stringify(result ?? {})) > MAX_RESULT_BYTES) {
    throw invalid('The result is too large.', [
      { path: 'result', message: `is larger than ${MAX_RESULT_BYTES} bytes` },
    ]);
  }
}

/**
 * A rejection without a result is not checked against the form, because the form describes an action that will not
 * happen.
 */
function checkForm({ form }: TaskRow, { approved, result }: Answer): void {
  if (form === null || (result === undefined && !approved)) return;
  const problems = validateForm(form, result ?? {});
  if (problems.length > 0) throw refused(problems);
  const unknown = unknownFields(form, result ?? {}, isComment(result?.comment) ? ['comment'] : []);
  if (unknown.length > 0) throw refused(unknown);
}

/** Every form accepts a comment unless it excludes one. */
const isComment = (value: unknown): boolean => typeof value === 'string' && value.length <= MAX_COMMENT_LENGTH;

/**
 * Checks the arguments that a person has changed, by the same rules as arguments of the model. Omits unchanged
 * arguments from the answer.
 */
async function checkArguments(ctx: Context, task: TaskRow, result: JsonMap): Promise<JsonMap> {
  if (!isObject(result.arguments)) return result;
  const askedCall = await findAskedCall(ctx, task.run_id, task.step_id);
  // The fields of a question may have any names.
  if (askedCall === null || askedCall.tool.instance_id === PERSON) return result;
  const given = result.arguments as JsonMap;
  const shown = askedArguments(task.form);
  if (shown !== null && digestOf(shown) === digestOf(given)) {
    const { arguments: _, ...others } = result;
    return others;
  }
  const problems = argumentProblems(askedCall.tool.input_schema as JsonMap, given);
  if (problems.length > 0)
    throw refused(
      problems.map(({ path, ...problem }) => ({ ...problem, path: path.replace('tool_args', 'result.arguments') })),
    );
  return result;
}

function askedArguments(form: JsonMap | null): JsonMap | null {
  const { properties } = form ?? {};
  const field = isObject(properties) ? properties.arguments : undefined;
  return isObject(field) && isObject(field.default) ? (field.default as JsonMap) : null;
}

const refused = (details: ErrorDetail[]) => invalid('The result does not match the form of the task.', details);
