import { z } from 'zod';
import type { GraphStep } from '../../core/index.ts';
import { CelSyntaxError, expression, MAX_EXPRESSION_LENGTH, typeName } from '../../languages/cel/index.ts';
import type { LuaPool, LuaRun, Verdict } from '../../languages/lua/index.ts';
import { Rendering } from '../../languages/rendering.ts';
import type { Attempt, GraphCheck, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { fieldReader } from '../common-fields.ts';
import { DataTooLarge, dataOf, TOO_COSTLY } from '../expression-data.ts';
import { failed, outcomeOf } from '../failure.ts';
import { stepsInTemplates } from '../reads.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';

const fields = z.strictObject({
  expression: z.string().min(1).max(MAX_EXPRESSION_LENGTH).meta({
    description:
      'CEL over input and steps; true or false. Numbers are of one kind, as in JSON: 1 == 1.0 and 7 / 2 is 3.5.',
  }),
  mode: z.enum(['branch', 'validate']).optional().meta({
    description: 'branch (default): then or else follows; validate: the step fails where the expression is false',
  }),
  then: z
    .array(z.string())
    .optional()
    .meta({ description: 'Dependents to which the edge is taken if the expression is true; a step may be in both' }),
  else: z
    .array(z.string())
    .optional()
    .meta({ description: 'Dependents to which the edge is taken if the expression is false' }),
  message: z
    .string()
    .max(4_000)
    .optional()
    .meta({ description: 'The message when the validation is false; may contain templates' }),
});
const read = fieldReader(fields);

function outcomeOfVerdict(verdict: Verdict, whenFalse: () => Outcome): Outcome {
  if ('type' in verdict) {
    return failed(
      'expression_not_boolean',
      `the expression must be true or false, but it is a value of type ${verdict.type}`,
    );
  }
  return verdict.value ? { kind: 'completed', result: { value: true, branch: 'then' } } : whenFalse();
}

/** Returns the outcome of a false expression. The message of a validation is rendered here. */
function outcomeOfFalse(attempt: Attempt): Outcome {
  const { mode, message = 'the condition is not met' } = read(attempt.step);
  if (mode !== 'validate') return { kind: 'completed', result: { value: false, branch: 'else' } };
  try {
    return failed('condition_not_met', new Rendering(attempt).text('message', message));
  } catch (error) {
    return outcomeOf(error);
  }
}

function outcomeOfRun(run: LuaRun, whenFalse: () => Outcome): Outcome {
  if (run.ok) return outcomeOfVerdict(JSON.parse(run.result) as Verdict, whenFalse);
  // A worker that crashed on the expression ran out of memory.
  return run.code === 'lua_crashed' ? TOO_COSTLY : failed(run.code, run.message);
}

/** Returns the outcome of a small expression; undefined for a larger one. */
function atOnce(attempt: Attempt): Outcome | undefined {
  try {
    const value = expression(read(attempt.step).expression).evaluateSmall(attempt);
    if (value === undefined) return undefined;
    const verdict = typeof value === 'boolean' ? { value } : { type: typeName(value) };
    return outcomeOfVerdict(verdict, () => outcomeOfFalse(attempt));
  } catch (error) {
    return outcomeOf(error);
  }
}

async function evaluateInWorker(attempt: Attempt, signal: AbortSignal, pool: LuaPool): Promise<Outcome> {
  const { expression: text } = read(attempt.step);
  const data = dataOf(expression(text), attempt);
  // The message may read large results as well.
  const whenFalse = outcomeOfFalse(attempt);
  try {
    const run = await pool.evaluate(text, data, { tenant: attempt.run.tenantId, signal });
    return outcomeOfRun(run, () => whenFalse);
  } catch (error) {
    if (error instanceof DataTooLarge) return TOO_COSTLY;
    throw error;
  }
}

function check(step: Parameters<StepType['check']>[0]): StepProblem[] {
  const text = step.expression;
  if (typeof text !== 'string' || text.length > MAX_EXPRESSION_LENGTH) return [];
  const problem = (code: string, message: string): StepProblem[] => [{ path: 'expression', code, message }];
  if (/\{\{\s*(input|steps|item|index)\b/.test(text)) {
    return problem(
      'template_in_expression',
      'an expression reads input and steps directly: write input.x, not {{input.x}}',
    );
  }
  try {
    expression(text);
    return [];
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error;
    return problem('expression_malformed', error.message);
  }
}

function checkInGraph(step: GraphStep, graph: GraphCheck): void {
  if (step.on_error === 'continue' && step.mode !== 'validate') {
    const message = 'a condition that branches cannot continue after an error: no branch would be taken';
    graph.error({ path: 'on_error', code: 'on_error_in_branch', message });
  }
  checkReads(step, graph);
  checkBranches(step, graph);
  checkReach(step, graph);
}

function checkReads(step: GraphStep, graph: GraphCheck): void {
  if (typeof step.expression !== 'string') return;
  try {
    const { steps, readsItem } = expression(step.expression);
    for (const read of steps) graph.reads(read, 'expression', 'error');
    if (readsItem) graph.readsItem('expression');
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error; // `check` reports it
  }
}

function checkBranches(step: GraphStep, graph: GraphCheck): void {
  const dependents = new Set(graph.dependents);
  for (const branch of ['then', 'else'] as const) {
    const names = Array.isArray(step[branch]) ? step[branch] : [];
    const other = step[branch === 'then' ? 'else' : 'then'];
    if (names.length > 0 && step.mode === 'validate') {
      const message = `${branch} has no meaning where mode is validate`;
      graph.error({ path: branch, code: 'branch_in_validation', message });
    }
    const taken = new Set<string>();
    for (const [at, name] of names.entries()) {
      if (typeof name !== 'string') continue;
      const path = `${branch}[${at}]`;
      const shown = name.slice(0, 80);
      if (!dependents.has(name)) {
        const message = `"${shown}" does not depend on this step: add "${step.id}" to its depends_on`;
        graph.error({ path, code: 'not_a_dependent', message });
      } else if (step.mode !== 'validate' && !(Array.isArray(other) && other.includes(name))) {
        checkEffect(name, path, graph);
      }
      if (taken.has(name)) graph.error({ path, code: 'branch_named_twice', message: `"${shown}" is named twice here` });
      taken.add(name);
    }
  }
}

/** Warns of a step in a branch that runs whichever branch is taken, because another edge always leads to the step. */
function checkEffect(name: string, path: string, graph: GraphCheck): void {
  const certain = graph.certainDependency(name);
  if (certain === undefined) return;
  const message = `"${name}" runs whichever branch is taken, because it also depends on "${certain}", which no branch skips`;
  graph.warn({ path, code: 'branch_without_effect', message });
}

/** Warns of a branch that a constant expression never takes. */
function checkReach(step: GraphStep, graph: GraphCheck): void {
  if (step.mode === 'validate' || typeof step.expression !== 'string') return;
  const constant = /^\s*(true|false)\s*$/.exec(step.expression)?.[1];
  const dead = constant === 'true' ? 'else' : 'then';
  const names = step[dead];
  if (!constant || !Array.isArray(names) || names.length === 0) return;
  const message = `the expression is always ${constant}: this branch is never taken`;
  graph.warn({ path: dead, code: 'unreachable_branch', message });
}

function readsOf(step: Parameters<StepType['check']>[0]): Iterable<string> | 'all' {
  const { steps, readsAnyStep } = expression(read(step).expression);
  return readsAnyStep ? 'all' : [...steps, ...stepsInTemplates({ ...step, expression: '' })];
}

/**
 * `condition`: branches on a CEL expression, or fails the step if the expression is false. Small expressions are
 * evaluated synchronously, because chains of thousands of conditions depend on it. The workers of `pool` evaluate
 * larger ones.
 */
export function condition(pool: LuaPool): StepType {
  return {
    type: 'condition',
    ...description,
    ...facts,
    fields,
    available: true,
    dataFields: ['message'],
    decides: true,
    rawFields: ['expression'],
    trial: { replacedBecause: () => null, staysInside: true },
    reads: readsOf,
    check,
    checkInGraph,
    atOnce,
    async execute(attempt, signal) {
      try {
        return atOnce(attempt) ?? (await evaluateInWorker(attempt, signal, pool));
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}
