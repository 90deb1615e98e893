import { z } from 'zod';
import { readJson } from '../../../platform/json-text.ts';
import type { GraphStep, JsonValue } from '../../core/index.ts';
import {
  CelError,
  CelSyntaxError,
  type CelValue,
  expression,
  jsonOf,
  MAX_EXPRESSION_LENGTH,
} from '../../languages/cel/index.ts';
import type { LuaPool } from '../../languages/lua/index.ts';
import { resolve } from '../../languages/rendering.ts';
import { hasTemplate, parseTemplate, TemplateSyntaxError } from '../../languages/templates.ts';
import type { Attempt, Gathered, GraphCheck, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { fieldReader, InvalidStep } from '../common-fields.ts';
import { DataTooLarge, dataOf, TOO_COSTLY } from '../expression-data.ts';
import { failed, outcomeOf } from '../failure.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';

const MAX_CONCURRENCY = 100;
const DEFAULT_CONCURRENCY = 1;
/** A loop of more items gathers their results in a separate turn. */
const MAX_AT_ONCE = 1_000;
/** Parsing a list of this length, in characters of JSON, takes about a millisecond. */
const LARGE_LIST = 64 * 1024;

const fields = z.strictObject({
  items: z
    .string()
    .min(1)
    .max(MAX_EXPRESSION_LENGTH)
    .meta({ description: 'The list: one template such as {{input.orders}}, otherwise a CEL expression' }),
  steps: z
    .array(z.looseObject({ id: z.string(), type: z.string() }))
    .min(1)
    .meta({
      description:
        'A graph of its own, executed for each item. Its steps also read item, index (from 0), and what the loop itself reads',
    }),
  concurrency: z
    .number()
    .int()
    .min(1)
    .max(MAX_CONCURRENCY)
    .optional()
    .meta({ description: `Items at work at a time, 1 (default) to ${MAX_CONCURRENCY}` }),
  on_item_error: z.enum(['fail', 'continue']).optional().meta({
    description: 'fail (default): the loop fails with the first item that fails. continue: that item’s result is null',
  }),
});
const read = fieldReader(fields);

type Items = { list: JsonValue } | { outcome: Outcome };

/** Returns the items; undefined if computing them takes more than a moment. */
function itemsAtOnce(attempt: Attempt): Items | undefined {
  const { items } = read(attempt.step);
  if (hasTemplate(items)) {
    const { whole } = parseTemplate(items);
    if (whole === null) throw new InvalidStep('items: must be one template and nothing else');
    return { list: resolve(whole, attempt) };
  }
  const compiled = expression(items);
  try {
    const value: CelValue | undefined = compiled.evaluateSmall(attempt);
    return value === undefined ? undefined : { list: jsonOf(value) };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { outcome: ofItems(outcomeOf(error)) };
  }
}

async function evaluatedInWorker(attempt: Attempt, signal: AbortSignal, pool: LuaPool): Promise<Items> {
  const { items } = read(attempt.step);
  // Taken before the first await, because large results exist only until then.
  const data = dataOf(expression(items), attempt);
  try {
    const run = await pool.evaluate(items, data, { tenant: attempt.run.tenantId, signal, wants: 'value' });
    if (!run.ok) return { outcome: ofItems(run.code === 'lua_crashed' ? TOO_COSTLY : failed(run.code, run.message)) };
    if (run.result.length > LARGE_LIST) await attempt.ownTurn?.();
    return { list: readJson(run.result) };
  } catch (error) {
    if (error instanceof DataTooLarge) return { outcome: ofItems(TOO_COSTLY) };
    throw error;
  }
}

/** Returns the failure of the expression, with a message that names the field. */
function ofItems(outcome: Outcome): Outcome {
  if (outcome.kind !== 'failed') return outcome;
  const { code, message } = outcome.error;
  return failed(code, `items: ${message}`);
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Whether gathering the results takes a moment only. */
const isShort = ({ ends }: Gathered): boolean => ends.length <= MAX_AT_ONCE;

/** Returns the outcome of a loop whose items are computed with little work; undefined for another one. */
function beginAtOnce(attempt: Attempt): Outcome | undefined {
  const found = itemsAtOnce(attempt);
  return found && outcomeOfItems(found, attempt);
}

async function begin(attempt: Attempt, signal: AbortSignal, pool: LuaPool): Promise<Outcome> {
  return outcomeOfItems(itemsAtOnce(attempt) ?? (await evaluatedInWorker(attempt, signal, pool)), attempt);
}

function outcomeOfItems(found: Items, attempt: Attempt): Outcome {
  if ('outcome' in found) return found.outcome;
  const { list } = found;
  if (!Array.isArray(list)) return failed('items_not_list', `items: must give a list, but gives ${kindOf(list)}`);
  if (list.length === 0) return { kind: 'completed', result: { results: [], failed: 0 } };
  const { concurrency = DEFAULT_CONCURRENCY, on_item_error = 'fail' } = read(attempt.step);
  const plan = { type: 'for_each', count: list.length, concurrency, on_item_error } as const;
  return { kind: 'expanding', plan, items: list };
}

/**
 * Returns the result of a loop, in the order of its items. An item's result is that of its last step, or an object of
 * the results of its last steps by id; null if the item failed.
 */
export function loopResult({ last, ends, failed }: Gathered): { results: JsonValue[]; failed: number } {
  const results = ends.map(end => {
    if (end === null) return null;
    // fromEntries defines keys instead of assigning them: a step may be called __proto__.
    return last.length === 1 ? (end[0] ?? null) : Object.fromEntries(last.map((id, at) => [id, end[at] ?? null]));
  });
  return { results, failed };
}

function check({ items }: GraphStep): StepProblem[] {
  if (typeof items !== 'string' || items.length > MAX_EXPRESSION_LENGTH) return [];
  const problem = (code: string, message: string): StepProblem[] => [{ path: 'items', code, message }];
  try {
    if (!hasTemplate(items)) expression(items);
    else if (parseTemplate(items).whole === null)
      return problem('items_ambiguous', 'must be one template and nothing else, or an expression without templates');
    return [];
  } catch (error) {
    if (error instanceof TemplateSyntaxError) return []; // reported with all templates
    if (!(error instanceof CelSyntaxError)) throw error;
    return problem('expression_malformed', error.message);
  }
}

function checkInGraph({ items }: GraphStep, graph: GraphCheck): void {
  if (typeof items !== 'string' || hasTemplate(items)) return;
  try {
    const { steps, readsItem } = expression(items);
    for (const step of steps) graph.reads(step, 'items', 'error');
    if (readsItem) graph.readsItem('items');
  } catch (error) {
    if (!(error instanceof CelSyntaxError)) throw error; // `check` reports it
  }
}

function readsOf(step: GraphStep): Iterable<string> | 'all' {
  const { items } = read(step);
  if (hasTemplate(items))
    return parseTemplate(items).parts.flatMap(part => (typeof part === 'object' && part.step) || []);
  const { steps, readsAnyStep } = expression(items);
  return readsAnyStep ? 'all' : steps;
}

/**
 * `for_each` (docs/specification/steps.md#for_each): the first attempt decides for which items the step's own graph is
 * added to the run, and the second one returns their results.
 */
export function forEach(pool: LuaPool): StepType {
  return {
    type: 'for_each',
    ...description,
    ...facts,
    fields,
    available: true,
    dataFields: ['concurrency'],
    // The steps of the loop may ask people, and a failure in the loop may be that of a check.
    approvalFields: ['steps', 'on_item_error'],
    rawFields: ['steps'],
    reads: readsOf,
    check,
    checkInGraph,
    atOnce(attempt) {
      try {
        const { gathered } = attempt;
        if (gathered != null)
          return isShort(gathered) ? { kind: 'completed', result: loopResult(gathered) } : undefined;
        return beginAtOnce(attempt);
      } catch (error) {
        return outcomeOf(error);
      }
    },
    async execute(attempt, signal) {
      try {
        const { gathered } = attempt;
        if (gathered != null) return { kind: 'completed', result: loopResult(gathered) };
        return await begin(attempt, signal, pool);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}
