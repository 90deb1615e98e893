/** A suggested solution of a problem; a function if computing it is costly, because it is called only for problems that a report shows. */
export type Hint = string | (() => string | undefined);

/** Suggestions that follow from the code of a problem. */
const BY_CODE: ReadonlyMap<string, string> = new Map([
  ['no_steps', 'Add a step.'],
  ['duplicate_step_id', 'Rename one of the two steps; what refers to it has to follow.'],
  ['duplicate_dependency', 'Remove one of the two from depends_on.'],
  ['cycle', 'Remove one of these connections from depends_on.'],
  ['item_outside_loop', 'Move the step into a for_each step, or read a result with {{steps.<id>.result}} instead.'],
  ['retries_not_supported', 'Remove retry_count.'],
  ['not_openable', 'Remove the field from overridable.'],
  ['not_in_loop', 'Remove the field.'],
  ['loops_nested_too_deep', 'Move the inner steps into a workflow of their own, and call it with call_workflow.'],
  ['too_many_steps_at_once', 'Lower concurrency.'],
  ['gated_and_disabled', 'Remove gated, or enable the step.'],
  ['disabled_dependency', 'Enable the step, or let the steps after it depend on the steps before it.'],
  ['template_malformed', 'Write templates as {{input.field}} or {{steps.<id>.result.field}}.'],
  ['not_a_dependent', 'Connect the condition with the step, or remove the step from the branch.'],
  ['branch_named_twice', 'Name the step once in each branch.'],
  [
    'branch_without_effect',
    'Remove the other step from depends_on; if it has to end first, let the condition depend on it.',
  ],
  ['branch_in_validation', 'Remove the branch, or change mode to branch.'],
  ['unreachable_branch', 'Let the expression read the input or a result.'],
  ['patterns_too_large', 'Shorten the regular expressions of the forms and schemas.'],
  ['step_in_loop', 'Read the result of the loop, which has the results of its items.'],
  ['model_key_missing', 'Add a key for this provider under Settings, Model keys, or choose a model that has one.'],
  ['unknown_model', 'Choose a model from the catalog.'],
  ['unknown_model_provider', 'Name the model as provider/model, such as openai/gpt-5-mini.'],
  ['unknown_instance', 'Choose an instance of an MCP server of this project.'],
  ['unknown_tool', 'Choose a tool that the published version of the server has.'],
  ['tool_arg_missing', 'Add the argument to tool_args.'],
  ['tool_arg_unknown', 'Remove the argument, or correct its name.'],
  ['tool_args_invalid', 'Change the argument so that it fits the input schema of the tool.'],
  ['mcp_server_not_published', 'Publish a version of the MCP server.'],
  ['unknown_connection', 'Choose a connection of this project, or create one under Connections.'],
  ['agent_not_found', 'Choose an agent of this project.'],
  ['agent_archived', 'Choose an agent that is not archived.'],
  ['workflow_unknown', 'Choose a workflow of this project.'],
  ['workflow_archived', 'Choose a workflow that is not archived.'],
  ['workflow_unpublished', 'Publish the workflow that is named here.'],
  ['workflow_cycle', 'Choose another workflow.'],
]);

/** Returns the suggestion for a problem, if there is one. */
export function hintFor(code: string, own: Hint | undefined): string | undefined {
  return (typeof own === 'function' ? own() : own) ?? BY_CODE.get(code);
}

/** The maximum number of names that are compared, and their maximum length. */
const MAX_COMPARED = 300;
const MAX_LENGTH = 64;
/** The maximum number of letters that may differ. */
const MAX_DISTANCE = 2;

/** Returns the name that was probably meant: one that differs in case, in punctuation, or in at most two letters. */
export function nearest(name: string, names: Iterable<string>): string | undefined {
  if (name.length > MAX_LENGTH) return undefined;
  const wanted = plain(name);
  let best: { name: string; distance: number } | undefined;
  let compared = 0;
  for (const candidate of names) {
    compared += 1;
    if (compared > MAX_COMPARED) break;
    if (candidate.length > MAX_LENGTH) continue;
    const distance = editDistance(wanted, plain(candidate));
    if (distance <= allowed(name) && (best === undefined || distance < best.distance)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

/** Returns the maximum number of different letters: fewer for short names, which are similar by chance. */
const allowed = (name: string): number => (name.length < 4 ? 0 : name.length < 6 ? 1 : MAX_DISTANCE);
const plain = (name: string): string => name.toLowerCase().replaceAll(/[-_\s]/g, '');

/**
 * Returns the number of letters to insert, delete or replace to change one name to the other; Infinity if it exceeds the limit.
 * Only cells near the diagonal can be within the limit, so comparing two names takes time in proportion to their length.
 */
function editDistance(a: string, b: string): number {
  let row = new Map(Array.from({ length: MAX_DISTANCE + 1 }, (_, at) => [at, at]));
  for (let i = 1; i <= a.length; i += 1) {
    const next = new Map<number, number>();
    for (let j = Math.max(0, i - MAX_DISTANCE); j <= Math.min(b.length, i + MAX_DISTANCE); j += 1) {
      const replaced = cell(row, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.set(j, Math.min(replaced, cell(row, j) + 1, cell(next, j - 1) + 1));
    }
    row = next;
  }
  const distance = cell(row, b.length);
  return distance <= MAX_DISTANCE ? distance : Number.POSITIVE_INFINITY;
}

const cell = (row: ReadonlyMap<number, number>, at: number): number => row.get(at) ?? Number.POSITIVE_INFINITY;

/** Suggests the name that was probably meant; otherwise `otherwise`. */
export function didYouMean(name: string, names: () => Iterable<string>, otherwise: string): Hint {
  return () => {
    const similarName = nearest(name, names());
    return similarName === undefined ? otherwise : `Did you mean "${similarName}"?`;
  };
}
