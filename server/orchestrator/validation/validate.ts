import { setImmediate } from 'node:timers/promises';
import type { z } from 'zod';
import { isId } from '../../platform/ids.ts';
import { isObject } from '../../platform/json.ts';
import {
  type Graph,
  type GraphStep,
  innerSteps,
  type JsonMap,
  type JsonValue,
  MAX_ADDED_IN_MEMORY,
  MAX_SEARCHABLE_FIELDS,
} from '../core/index.ts';
import { collectReferences, readsItem } from '../languages/templates.ts';
import type { CheckScope, GraphCheck, StepType, StepTypes } from '../ports/step-type.ts';
import { CommonStepFields, commonFieldNames, openableFields, ownFields } from '../steps/common-fields.ts';
import { checkForm } from '../steps/form.ts';
import { isSecretInput, readSearchable } from '../steps/searchable.ts';
import { certainDependency } from './certain-edges.ts';
import { didYouMean, type Hint } from './hints.ts';
import { PatternBudget } from './pattern-budget.ts';
import { type GraphProblem, ProblemList } from './problem-list.ts';
import { checkShape } from './shape.ts';
import { hasStep, loopTopology, loopWith, nestingOf, type Topology, topology } from './topology.ts';
import { checkWorkflowTool } from './workflow-tool.ts';

export type GraphReport = { valid: boolean; errors: GraphProblem[]; warnings: GraphProblem[] };

/** The number of steps that are checked before other work gets a turn of the event loop. */
export const STEPS_AT_ONCE = 25;

/** Templates are also rendered in these common fields. */
const RENDERED_COMMON = ['name'] as const;

/** The problems found so far. */
export class Collector {
  readonly errors = new ProblemList();
  readonly warnings = new ProblemList();
  error(step: string | null, path: string, code: string, message: string, hint?: Hint): void {
    this.errors.push({ step_id: step, path, code, message, hint });
  }
  warn(step: string | null, path: string, code: string, message: string, hint?: Hint): void {
    this.warnings.push({ step_id: step, path, code, message, hint });
  }
}

function issuePath(path: readonly PropertyKey[]): string {
  return path.reduce<string>(
    (text, part) =>
      typeof part === 'number' ? `${text}[${part}]` : text === '' ? String(part) : `${text}.${String(part)}`,
    '',
  );
}

/** `names`: the fields that the step may have. */
function reportIssues(
  step: GraphStep,
  issues: readonly z.core.$ZodIssue[],
  names: readonly string[],
  into: Collector,
): void {
  for (const issue of issues) {
    const path = issuePath(issue.path);
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) {
        const at = path === '' ? key : `${path}.${key}`;
        const hint =
          path === ''
            ? didYouMean(key, () => names, `Remove it; ${step.type} has: ${names.join(', ')}.`)
            : 'Remove it.';
        into.error(step.id, at, 'unknown_field', `${step.type} has no field "${key.slice(0, 80)}"`, hint);
      }
    } else {
      const missing =
        issue.code === 'invalid_type' && issue.path.length === 1 && step[String(issue.path[0])] === undefined;
      into.error(
        step.id,
        path,
        missing ? 'missing_field' : 'invalid_field',
        missing ? `${path} is required` : issue.message,
        missing ? `Set ${path}.` : undefined,
      );
    }
  }
}

function checkFields(step: GraphStep, type: StepType, into: Collector): void {
  checkCommonFields(step, type, into);
  const parsed = type.fields.safeParse(ownFields(step));
  const names = [...Object.keys(type.fields.shape), ...commonFieldNames];
  if (!parsed.success) reportIssues(step, parsed.error.issues, names, into);
}

/** Checks the fields that all types have. `type` is undefined where this server does not have it. */
export function checkCommonFields(step: GraphStep, type: StepType | undefined, into: Collector): void {
  const common = Object.fromEntries(Object.entries(step).filter(([name]) => commonFieldNames.has(name)));
  const parsed = CommonStepFields.safeParse(common);
  if (!parsed.success) reportIssues(step, parsed.error.issues, [...commonFieldNames], into);
  if (type?.retries === false && step.retry_count) {
    into.error(step.id, 'retry_count', 'retries_not_supported', `${type.type} steps are not retried`);
  }
  if (parsed.success && type !== undefined) checkOverridable(step, parsed.data.overridable ?? [], type, into);
}

function checkOverridable(step: GraphStep, named: readonly string[], type: StepType, into: Collector): void {
  if (named.length === 0) return;
  const openable = openableFields(type);
  for (const [at, name] of named.entries()) {
    if (openable.includes(name)) continue;
    const message = `${type.type} steps can open ${openable.join(', ')} to overrides, and nothing else`;
    into.error(step.id, `overridable[${at}]`, 'not_openable', message);
  }
}

/** A step must come after every step that it reads, or the result may not exist yet. */
function checkRead(step: GraphStep, path: string, read: string, graph: Topology, report: Collector['error']): void {
  if (graph.isAncestor(read, step.id)) return;
  const shown = read.slice(0, 80);
  const loop = hasStep(graph, read) ? undefined : loopWith(graph, read);
  if (loop !== undefined) {
    const message = `"${shown}" is a step of the loop "${loop}", and can be read only there`;
    report(step.id, path, 'step_in_loop', message);
  } else if (!hasStep(graph, read)) {
    const hint = didYouMean(read, () => graph.steps.keys(), 'Add a step with this id, or read another one.');
    report(step.id, path, 'unknown_step', `there is no step "${shown}"`, hint);
  } else {
    const message = `"${read}" does not come before this step: add it to depends_on`;
    report(step.id, path, 'not_an_ancestor', message, `Add "${read}" to depends_on of "${step.id}".`);
  }
}

function checkItem(step: GraphStep, path: string, graph: Topology, report: Collector['error']): void {
  if (graph.outer === null) refuseItem(step.id, path, report);
}

const refuseItem = (step: string | null, path: string, report: Collector['error']): void =>
  report(step, path, 'item_outside_loop', 'item and index are there only for the steps of a for_each step');

function checkTemplates(step: GraphStep, type: StepType, graph: Topology, into: Collector): void {
  const error: Collector['error'] = (...problem) => into.error(...problem);
  const fields: [string, JsonValue | undefined][] = Object.entries(ownFields(step)).filter(
    ([name]) => !type.rawFields.includes(name),
  );
  for (const name of RENDERED_COMMON) fields.push([name, step[name]]);
  for (const [name, value] of fields) {
    for (const found of collectReferences(value, name)) {
      if ('error' in found) into.error(step.id, found.path, 'template_malformed', found.error.message);
      else if (found.reference.step !== null) checkRead(step, found.path, found.reference.step, graph, error);
      else if (readsItem(found.reference)) checkItem(step, found.path, graph, error);
    }
  }
}

/** The view of the graph that a step type gets for one of its steps. */
function graphCheck(step: GraphStep, graph: Topology, into: Collector): GraphCheck {
  const error: Collector['error'] = (...problem) => into.error(...problem);
  const warn: Collector['error'] = (...problem) => into.warn(...problem);
  return {
    dependents: graph.dependents.get(step.id) ?? [],
    certainDependency: dependent => certainDependency(graph, dependent, step.id),
    inLoop: graph.outer !== null,
    readsItem: path => checkItem(step, path, graph, error),
    reads: (read, path, as) => checkRead(step, path, read, graph, as === 'error' ? error : warn),
    error: ({ path, code, message }) => error(step.id, path, code, message),
    warn: ({ path, code, message }) => warn(step.id, path, code, message),
  };
}

function checkMeaning(step: GraphStep, graph: Topology, into: Collector): void {
  if (step.gated === true && step.disabled === true) {
    into.warn(step.id, 'gated', 'gated_and_disabled', 'a disabled step does not run even where trigger_steps names it');
  }
  if (step.disabled === true && graph.dependents.has(step.id)) {
    into.warn(
      step.id,
      'disabled',
      'disabled_dependency',
      'other steps depend on this one; they read its result as null',
    );
  }
}

/** The data that the checks of all steps of a graph share. */
type Checking = { types: StepTypes; scope: CheckScope; patterns: PatternBudget };

/** How many loops a step can be nested in. */
const MAX_NESTING = 2;

/**
 * Checks the steps of a loop like those of a graph; their problems are reported as the loop's, for
 * example at `steps[0].script`.
 */
async function checkLoop(
  loop: GraphStep,
  steps: readonly GraphStep[],
  { checking, graph, into }: { checking: Checking; graph: Topology; into: Collector },
): Promise<void> {
  if (nestingOf(graph) >= MAX_NESTING) {
    into.error(loop.id, 'type', 'loops_nested_too_deep', `a step can be in at most ${MAX_NESTING} loops`);
    return;
  }
  const { concurrency } = loop;
  if (typeof concurrency === 'number' && concurrency * steps.length > MAX_ADDED_IN_MEMORY) {
    const message = `so many items of ${steps.length} steps exceed ${MAX_ADDED_IN_MEMORY} steps at a time, and fail the step`;
    into.warn(loop.id, 'concurrency', 'too_many_steps_at_once', message);
  }
  const order = loopTopology(steps, graph, loop.id);
  into.errors.appendWithin(order.problems, loop.id, id => `steps[${steps.findIndex(step => step.id === id)}]`);
  const within = { ...checking, scope: { ...checking.scope, inLoop: true } };
  for (const [at, step] of steps.entries()) {
    if (at % STEPS_AT_ONCE === 0) await setImmediate();
    const own = new Collector();
    checkAddressable(step, own);
    await checkStep(step, within, order, own);
    into.errors.appendWithin(own.errors, loop.id, () => `steps[${at}]`);
    into.warnings.appendWithin(own.warnings, loop.id, () => `steps[${at}]`);
  }
}

/** Reports the fields of a step in a loop that are only for starts: a start cannot name such a step. */
function checkAddressable(step: GraphStep, into: Collector): void {
  for (const field of ['gated', 'overridable'] as const) {
    const message = `a start cannot name a step in a loop: ${field} has no meaning there`;
    if (step[field] !== undefined && step[field] !== false) into.error(step.id, field, 'not_in_loop', message);
  }
}

/** The type, unless only other steps add it to a run. */
const authorable = (type: StepType | undefined): StepType | undefined => (type?.internal ? undefined : type);

/** Checks one step of a graph completely. */
export async function checkStep(step: GraphStep, checking: Checking, graph: Topology, into: Collector): Promise<void> {
  const { types, scope, patterns } = checking;
  const type = authorable(types.get(step.type));
  if (!type) {
    checkCommonFields(step, type, into);
    const known = [...types.values()].flatMap(({ type, internal }) => (internal ? [] : [type]));
    const message = `"${step.type.slice(0, 80)}" is not one of ${known.join(', ')}`;
    into.error(
      step.id,
      'type',
      'unknown_type',
      message,
      didYouMean(step.type, () => known, 'Choose one of these types.'),
    );
    return;
  }
  if (type.available !== true) into.error(step.id, 'type', 'type_unavailable', type.available.message);
  checkFields(step, type, into);
  checkTemplates(step, type, graph, into);
  type.checkInGraph?.(step, graphCheck(step, graph, into));
  checkMeaning(step, graph, into);
  const tooLarge = patterns.take(step);
  if (tooLarge !== null) {
    into.error(step.id, tooLarge, 'patterns_too_large', 'makes the patterns of this graph too large');
    return;
  }
  const checked = type.check(step, scope);
  for (const { path, code, message } of checked instanceof Promise ? await checked : checked) {
    if (type.external && step.disabled === true) into.warn(step.id, path, code, message);
    else into.error(step.id, path, code, message);
  }
  const inner = innerSteps(step);
  if (inner !== null) await checkLoop(step, inner, { checking, graph, into });
}

function checkInputSchema(schema: JsonMap | undefined, patterns: PatternBudget, into: Collector): void {
  if (schema === undefined) return;
  if (!patterns.takeSchema(schema)) {
    into.error(null, 'input_schema', 'patterns_too_large', 'makes the patterns of this graph too large');
    return;
  }
  for (const { path, code, message } of checkForm(schema, 'input_schema')) into.error(null, path, code, message);
}

/** The output can read the input and any step of the graph: it is computed after all of them have ended. */
function checkOutput(output: JsonValue | undefined, graph: Topology, into: Collector): void {
  const error: Collector['error'] = (...problem) => into.error(...problem);
  for (const found of collectReferences(output, 'output')) {
    if ('error' in found) into.error(null, found.path, 'template_malformed', found.error.message);
    else if (readsItem(found.reference)) refuseItem(null, found.path, error);
    else if (found.reference.step !== null && !graph.steps.has(found.reference.step)) {
      const { step } = found.reference;
      const hint = didYouMean(step, () => graph.steps.keys(), 'Read a step of the graph.');
      into.error(null, found.path, 'unknown_step', `there is no step "${step.slice(0, 80)}"`, hint);
    }
  }
}

function checkSearchable(graph: Graph, order: Topology, into: Collector): void {
  const { searchable = {}, input_schema } = graph;
  const names = Object.keys(searchable);
  if (names.length > MAX_SEARCHABLE_FIELDS) {
    const message = `a workflow has at most ${MAX_SEARCHABLE_FIELDS} searchable fields; this one has ${names.length}`;
    into.error(null, 'searchable', 'too_many_searchable', message);
    return;
  }
  for (const name of names) {
    const field = readSearchable(name, searchable[name]);
    const at = `searchable.${field.name}`;
    if (!('reference' in field)) into.error(null, at, field.code, field.message);
    else if (field.reference.step !== null && !order.steps.has(field.reference.step))
      into.error(null, at, 'unknown_step', `there is no step "${field.reference.step.slice(0, 80)}"`);
    else if (field.reference.step === null && isSecretInput(input_schema, field.reference.path))
      into.error(null, at, 'searchable_secret', 'the input schema says `writeOnly`: a secret cannot be searchable');
  }
}

/** Does not check whether the workflow exists, because that needs the database: the validation of a draft does. */
function checkFailureHandler(handler: JsonValue | undefined, into: Collector): void {
  if (handler === undefined) return;
  const { workflow_id, ...rest } = isObject(handler) ? handler : {};
  for (const field of Object.keys(rest))
    into.error(null, `on_failure.${field.slice(0, 80)}`, 'unknown_field', 'on_failure has only a workflow_id');
  if (typeof workflow_id !== 'string' || !isId(workflow_id.toLowerCase()))
    into.error(null, 'on_failure.workflow_id', 'invalid_field', 'must be the id of a workflow');
}

/**
 * Checks everything that a published graph must satisfy (docs/specification/workflows.md#validation). Problems are in
 * the order of the steps; instances and models are those of `scope`. Scripts are compiled by the Lua workers; 2,000 of
 * 300 characters take about 150 ms of this thread, in slices of about 2 ms.
 */
export async function validateGraph(graph: Graph, types: StepTypes, scope: CheckScope): Promise<GraphReport> {
  const shape = checkShape(graph);
  if (shape.length > 0) return { valid: false, errors: shape, warnings: [] };
  const into = new Collector();
  if (graph.steps.length === 0) into.error(null, 'steps', 'no_steps', 'the graph has no steps');
  const order = topology(graph.steps);
  into.errors.append(order.problems);
  checkOutput(graph.output, order, into);
  checkFailureHandler(graph.on_failure, into);
  checkSearchable(graph, order, into);
  checkWorkflowTool(graph, into);
  const checking = { types, scope, patterns: new PatternBudget() };
  checkInputSchema(graph.input_schema, checking.patterns, into);
  let turn: Promise<unknown> = Promise.resolve();
  const each = await Promise.all(
    graph.steps.map(async (step, at) => {
      if (at % STEPS_AT_ONCE === 0) turn = turn.then(() => setImmediate());
      await turn;
      const own = new Collector();
      await checkStep(step, checking, order, own);
      return own;
    }),
  );
  for (const own of each) {
    into.errors.append(own.errors);
    into.warnings.append(own.warnings);
  }
  return { valid: into.errors.count === 0, errors: into.errors.toReport(), warnings: into.warnings.toReport() };
}
