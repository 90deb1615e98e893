import { z } from 'zod';
import { readJson } from '../../../platform/json-text.ts';
import { addedId, type GraphStep, type JsonMap, type JsonValue } from '../../core/index.ts';
import {
  type LuaData,
  type LuaPool,
  type LuaRun,
  type PreparedScript,
  prepareScript,
  sizeOf,
} from '../../languages/lua/index.ts';
import { JsonTexts, resolve } from '../../languages/rendering.ts';
import { pathsOf } from '../../languages/templates.ts';
import type { Attempt, GraphCheck, Outcome, StepProblem, StepType } from '../../ports/step-type.ts';
import { fieldReader, MAX_TEXT_LENGTH } from '../common-fields.ts';
import { failed, outcomeOf } from '../failure.ts';
import { description } from './description.ts';
import { facts } from './facts.ts';

const fields = z.strictObject({
  script: z.string().min(1).max(MAX_TEXT_LENGTH).meta({
    description: 'Lua 5.4. Globals: input, steps, run, json, base64, hex, log. Its return value is the result.',
  }),
});
const read = fieldReader(fields);
/** The maximum data that is sent to a worker. More would not fit in Lua's own memory. */
const MAX_DATA_BYTES = 32 * 1024 * 1024;
/** Parsing a result of this length takes about a millisecond. */
const LARGE_RESULT = 64 * 1024;

/**
 * The JSON of a run's input. All steps of the run share the same input object, so consecutive steps share one JSON
 * text.
 */
class InputJson {
  #input: JsonMap | undefined;
  #json = '{}';
  of(input: JsonMap): string {
    if (this.#input !== input) {
      this.#json = JSON.stringify(input);
      this.#input = input;
    }
    return this.#json;
  }
}

/**
 * Returns the result of an ancestor as JSON; undefined for any other name, which reads as nil like every absent field.
 */
function textOf(step: string, attempt: Attempt): string | undefined {
  try {
    return attempt.resultText?.(step) ?? JSON.stringify(attempt.result(step));
  } catch {
    return undefined;
  }
}

/** The error for a script whose data exceeds MAX_DATA_BYTES. */
class DataTooLarge extends Error {}

/**
 * Returns the values of the script's templates. A value is serialized and sent once, for any number of templates that
 * read it. Throws TemplateUnresolved and DataTooLarge.
 */
function boundValues({ bound }: PreparedScript, attempt: Attempt): LuaData {
  const values: string[] = [];
  const known = { value: new Map<JsonValue, number>(), text: new Map<JsonValue, number>() };
  const json = new JsonTexts();
  let size = 0;
  const places = bound.map(({ reference, as }) => {
    const value = resolve(reference, attempt);
    // As text, a string is inserted unchanged and any other value as JSON.
    const inText = as === 'text' && typeof value !== 'string';
    const places = inText ? known.text : known.value;
    const present = places.get(value);
    if (present !== undefined) return present;
    const { text } = json.of(value);
    const sent = inText ? JSON.stringify(text) : text;
    size += sent.length;
    if (size > MAX_DATA_BYTES) throw new DataTooLarge();
    places.set(value, values.length);
    return values.push(sent) - 1;
  });
  return { values, places };
}

/** Returns the data that the script can read. Throws TemplateUnresolved and DataTooLarge. */
function dataOf(script: PreparedScript, attempt: Attempt, input: InputJson): LuaData {
  const data: LuaData = script.bound.length === 0 ? { values: [] } : boundValues(script, attempt);
  if (script.readsInput) data.input = input.of(attempt.input);
  if (script.readsRun) {
    const { id, workflowId, version } = attempt.run;
    data.run = JSON.stringify({ id, workflow_id: workflowId, version });
  }
  const item = script.readsItem ? attempt.item : null;
  if (item != null) {
    data.item = JSON.stringify(item.item);
    data.index = item.index;
  }
  const results: [string, string][] = [];
  let failures: [string, string][] | null = null;
  let size = 0;
  for (const id of script.steps === 'all' ? attempt.ancestors() : script.steps) {
    const text = textOf(id, attempt);
    if (text === undefined) continue;
    size += text.length;
    if (size > MAX_DATA_BYTES) throw new DataTooLarge();
    results.push([id, text]);
    const error = attempt.errorOf?.(id);
    if (error === undefined) continue;
    failures ??= [];
    failures.push([id, JSON.stringify(error)]);
  }
  // fromEntries defines keys instead of assigning them: a step may be called __proto__.
  if (results.length > 0) data.steps = Object.fromEntries(results);
  if (failures !== null) data.errors = Object.fromEntries(failures);
  if (sizeOf(data) > MAX_DATA_BYTES) throw new DataTooLarge();
  return data;
}

const isAdded = ({ id }: GraphStep): boolean => addedId(id) !== null;

/** Returns the steps whose results the script reads, directly or through a template. */
function readsOf(step: GraphStep): Iterable<string> | 'all' {
  const { steps, bound } = prepareScript(read(step).script, isAdded(step));
  if (steps === 'all') return 'all';
  return [...steps, ...bound.flatMap(({ reference }) => pathsOf(reference).flatMap(({ step }) => step ?? []))];
}

function outcomeOfRun(run: LuaRun): Outcome {
  const log = run.log.length > 0 ? { log: run.log } : {};
  if (run.ok) return { kind: 'completed', result: readJson(run.result), ...log };
  // A script may draw random numbers or read the clock, so retries are made if the author asked for them.
  return {
    kind: 'failed',
    error: { code: run.code, message: run.message, ...(run.details && { details: run.details }) },
    retryable: run.code !== 'lua_syntax',
    ...log,
  };
}

function check(script: JsonValue | undefined, pool: LuaPool, inLoop = false): StepProblem[] | Promise<StepProblem[]> {
  if (typeof script !== 'string' || script === '' || script.length > MAX_TEXT_LENGTH) return [];
  const prepared = prepareScript(script, inLoop);
  const problems = prepared.errors.map(error => ({
    path: 'script',
    code: 'template_malformed',
    message: error.message,
  }));
  return pool.check(prepared.source).then(run => {
    if (run.ok) return problems;
    return [...problems, { path: 'script', code: 'lua_syntax', message: run.message }];
  });
}

function checkInGraph({ script }: GraphStep, graph: GraphCheck): void {
  if (typeof script !== 'string' || script.length > MAX_TEXT_LENGTH) return;
  const { bound, steps } = prepareScript(script, graph.inLoop);
  for (const { step } of bound.flatMap(({ reference }) => pathsOf(reference)))
    if (step !== null) graph.reads(step, 'script', 'error');
  // `steps.x` of a step that is not an ancestor is nil, which a script may legitimately test for, so this is a warning.
  if (steps !== 'all') for (const read of steps) graph.reads(read, 'script', 'warning');
}

/** `lua_script`: runs Lua in a sandbox off the event loop (docs/specification/steps.md#lua_script). */
export function luaScript(pool: LuaPool): StepType {
  const input = new InputJson();
  return {
    type: 'lua_script',
    ...description,
    ...facts,
    fields,
    available: true,
    queues: true,
    dataFields: [],
    rawFields: ['script'],
    trial: { replacedBecause: () => null, staysInside: true },
    reads: readsOf,
    check: (step, { inLoop }) => check(step.script, pool, inLoop),
    checkInGraph,
    async execute(attempt, signal) {
      try {
        const script = prepareScript(read(attempt.step).script, isAdded(attempt.step));
        const [malformed] = script.errors;
        if (malformed) return failed('template_malformed', malformed.message);
        const began = () => attempt.began?.();
        const data = () => dataOf(script, attempt, input);
        const run = await pool.run(script.source, data, { tenant: attempt.run.tenantId, signal, began });
        // A worker answers up to 32 scripts at a time, so large results are parsed one by one.
        if (run.ok && run.result.length > LARGE_RESULT) await attempt.ownTurn?.();
        return outcomeOfRun(run);
      } catch (error) {
        if (!(error instanceof DataTooLarge)) return outcomeOf(error);
        return failed('lua_data_too_large', 'what the script reads exceeds 32 MiB: name the steps it needs');
      }
    },
  };
}
