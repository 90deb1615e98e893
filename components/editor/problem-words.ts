import type { GraphProblem } from '../code/locate-problem.ts';
import { labelOf } from './step-fields.ts';

/** The console text for a problem; `hint` is left out if the message already says what to do. */
type Words = { message: string; hint?: string | undefined };
type Translate = (problem: GraphProblem) => Words | null;

/** Messages for missing fields whose label does not make a good message. */
const MISSING: Readonly<Record<string, string>> = {
  workflow_id: 'Choose a workflow',
  instance_id: 'Choose an MCP instance',
  tool_name: 'Choose a tool',
  connection_id: 'Choose a connection',
  agent_id: 'Choose an agent',
  model: 'Choose a model',
  script: 'Write a script',
  expression: 'Write an expression',
  prompt: 'Write a prompt',
  instructions: 'Write instructions',
  steps: 'Add a step to the loop',
};

const missing = ({ path }: GraphProblem): Words => ({
  message: MISSING[lastName(path)] ?? `Enter a value for “${subjectOf(path)}”`,
});

/** Console texts by problem code, for problems whose messages name fields of the API. */
const BY_CODE: Readonly<Record<string, Translate>> = {
  no_steps: () => ({ message: 'Add the first step' }),
  missing_field: missing,
  not_an_ancestor: ({ message, hint = '' }) => {
    const read = /^"(.+)" does not come before/.exec(message)?.[1];
    const step = /to depends_on of "(.+)"\.$/.exec(hint)?.[1];
    if (read === undefined || step === undefined) return null;
    return { message: `“${read}” does not run before this step. Connect it to “${step}”.` };
  },
  not_a_dependent: ({ message }) => {
    const [, named, step] = /^"(.+)" does not depend on this step: add "(.+)" to/.exec(message) ?? [];
    if (named === undefined) return null;
    return {
      message: `“${named}” does not run after this step. Connect “${step}” to it, or remove it from the branch.`,
    };
  },
  cycle: ({ message }) => ({ message: capitalized(message), hint: 'Remove one of these connections.' }),
  unknown_dependency: ({ message, hint }) => ({
    message: capitalized(message),
    hint: hint?.startsWith('Did you mean') ? hint : 'Remove the connection, or add a step with this ID.',
  }),
  duplicate_dependency: ({ message }) => ({
    message: message.replace(/^(".*") is named twice$/s, 'Connected to $1 twice'),
    hint: 'Remove one of the two connections.',
  }),
  branch_without_effect: ({ message }) => ({
    message: message.replace('it also depends on', 'it also runs after'),
    hint: 'Remove the other connection, or connect the other step to the condition.',
  }),
  on_error_in_branch: () => ({
    message: 'A condition that branches cannot continue after an error, because no branch would be taken',
  }),
  branch_in_validation: () => ({
    message: 'A condition that validates has no branches',
    hint: 'Remove the branch, or change the mode to branch.',
  }),
  retries_not_supported: () => ({ message: 'This type of step is never retried', hint: 'Set retries to 0.' }),
  workflow_unknown: ({ hint }) => ({ message: 'There is no such workflow', hint }),
  timeout_never: ({ path }) => ({
    message:
      path === 'timeout_s' ? 'A timeout has no effect on a wait' : '“On timeout” has no effect without a timeout',
  }),
  field_conflict: () => ({ message: 'The selected agent already sets this. Remove it from the step' }),
  tool_arg_missing: ({ path }) => ({ message: `The tool requires “${lastName(path)}”` }),
  tool_arg_unknown: ({ path, hint }) => ({ message: `The tool has no argument “${lastName(path)}”`, hint }),
  tool_may_write: ({ message }) => ({
    message: message.replace('says that the workflow changes nothing, but', 'This tool is marked read-only, but'),
  }),
  wait_ambiguous: () => ({ message: 'Enter either “Seconds” or “Until”' }),
  item_outside_loop: () => ({
    message: '“item” and “index” can be read only inside a loop',
    hint: 'Move the step into a loop, or read a result with {{steps.<id>.result}}.',
  }),
  loops_nested_too_deep: () => ({
    message: 'Loops are nested too deeply',
    hint: 'Move the inner steps into another workflow, and call it from here.',
  }),
  not_in_loop: ({ path }) => ({ message: `“${labelOf(lastName(path))}” has no effect inside a loop` }),
  gated_and_disabled: () => ({
    message: 'A disabled step does not run, even when it is started by name',
    hint: `Turn off “${labelOf('gated')}”, or enable the step.`,
  }),
  disabled_dependency: () => ({
    message: 'The steps after this one get null as its result',
    hint: 'Enable the step, or connect the steps after it to the steps before it.',
  }),
  not_openable: ({ message }) => {
    const names = /can open (.+) to overrides/.exec(message)?.[1];
    return names === undefined ? null : { message: `Only these fields can be changed at start: ${names}` };
  },
  unknown_field: ({ message, hint }) => ({
    message: message.replace(/^\w+ has no field/, 'This step has no field'),
    hint: hint?.startsWith('Remove it') ? 'Remove it in the JSON of the graph.' : hint,
  }),
};

/** zod messages about a value, and their replacements. */
const BY_MESSAGE: readonly (readonly [RegExp, (at: string, limit: string) => string])[] = [
  [/^Too big: expected (?:number|int) to be <=(\S+)$/, (at, limit) => `${at} must be at most ${limit}`],
  [/^Too small: expected (?:number|int) to be >=(\S+)$/, (at, limit) => `${at} must be at least ${limit}`],
  [/^Too big: expected string to have <=(\S+) characters$/, (at, limit) => `${at} is longer than ${limit} characters`],
  [/^Invalid input: expected (?:number|int), received \w+$/, at => `${at} must be a number`],
  [/^Invalid input: expected string, received \w+$/, at => `${at} must be text`],
  [/^Invalid input: expected boolean, received \w+$/, at => `${at} must be true or false`],
];
const EMPTY_TEXT = /^Too small: expected string to have >=1 characters$/;
/** Messages that need the name of their field as the subject. */
const PREDICATE = /^(?:must|is|are|needs?|has|have|cannot|may|reads|takes|contains|makes) /;
/** Messages with a position in the text of their field. The editor marks that position. */
const HAS_POSITION = / at character \d+$|^script:\d+:/;

/** Returns a graph problem with console texts: the API names fields (`depends_on`), the console shows labels and connections. */
export function inConsoleWords<P extends GraphProblem>(problem: P): P {
  if (HAS_POSITION.test(problem.message)) return problem;
  const { hint: _, ...rest } = problem;
  const words = wordsFor(problem);
  // The cast to P is safe: only texts differ, and `hint` is optional in all problems.
  return { ...rest, message: words.message, ...(words.hint === undefined ? {} : { hint: words.hint }) } as P;
}

function wordsFor(problem: GraphProblem): Words {
  const { path, code, message, hint } = problem;
  if (EMPTY_TEXT.test(message)) return missing(problem);
  const translated = Object.hasOwn(BY_CODE, code) ? BY_CODE[code]?.(problem) : null;
  if (translated) return translated;
  for (const [pattern, format] of BY_MESSAGE) {
    const found = pattern.exec(message);
    if (found) return { message: format(subjectOf(path), found[1] ?? ''), hint };
  }
  if (PREDICATE.test(message) && path !== '') return { message: `${subjectOf(path)} ${message}`, hint };
  return { message: capitalized(message), hint };
}

/** `steps[0].tool_args.url` → “Arguments › url”: the label of the field, and the path in its value. */
function subjectOf(path: string): string {
  const [field = '', ...rest] = path.replace(/^(?:steps\[\d+\]\.?)+(?=.)/, '').split('.');
  const [, name = '', index = ''] = /^([^[]*)(.*)$/.exec(field) ?? [];
  return [`${labelOf(name)}${index}`, ...rest].join(' › ');
}

const lastName = (path: string): string => path.slice(path.lastIndexOf('.') + 1);

/** A sentence that begins with an API name, such as `on_lost`, is not capitalized. */
const capitalized = (text: string): string =>
  /^[a-z]+_/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
