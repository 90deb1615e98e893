import { cleanJson } from '../../platform/clean-json.ts';
import { derivedId, newId } from '../../platform/ids.ts';
import { isInt64 } from '../../platform/json-text.ts';
import { storageProblem } from '../../platform/storable-json.ts';
import { type Command, type Consumption, type JsonValue, type StepError, StoredValue, sizeOf } from '../core/index.ts';
import { type LargeResult, PAYLOAD_THRESHOLD_BYTES } from '../log/index.ts';
import type { Outcome } from '../ports/step-type.ts';

/** docs/specification/limits.md#sizes */
export const MAX_RESULT_BYTES = 1024 * 1024;
/** A model's answer may have 1 MiB of JSON, and the result contains it a second time as an object. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const ANSWERS: ReadonlySet<string | undefined> = new Set(['agent', 'agent_turn', 'llm_call']);
/** Deeper values overflow the stacks of serializers, including PostgreSQL's. */
const MAX_DEPTH = 200;
/** People read public error messages; a provider's whole error page is too long for that. */
const MAX_ERROR_LENGTH = 4_000;
/** A larger error would be stored apart from its event; this one stays in memory with the state of its step. */
const MAX_ERROR_BYTES = PAYLOAD_THRESHOLD_BYTES;

/** Whether serializing the result may take a millisecond or more. */
export function isLarge(outcome: Outcome): boolean {
  return outcome.kind === 'completed' && sizeOf(outcome.result) > LARGE_BYTES;
}
const LARGE_BYTES = 64 * 1024;

/** The command that reports an attempt's end to the core, and the text of its result if that is stored externally. */
export type Ended = { command: Command; large: LargeResult | null };

/**
 * Translates an outcome. `random` (0..1) is for the jitter of a retry. A result of more than `threshold` bytes of JSON
 * becomes a reference at once, so that while it waits for its commit only its text is in memory.
 */
export function endOfAttempt(
  { step, attempt, random, threshold = PAYLOAD_THRESHOLD_BYTES, of }: EndedAttempt,
  given: Outcome,
): Ended {
  // Done here for all step types: a text that PostgreSQL cannot read made the whole run unreadable.
  const outcome = cleanJson(given);
  if (outcome.kind === 'calling')
    return { command: callingCommand({ step, attempt, random, of }, outcome), large: null };
  if (outcome.kind === 'expanding') return { command: expandingCommand(step, attempt, outcome, random), large: null };
  if (outcome.kind !== 'completed') return { command: outcomeCommand(step, attempt, outcome, random), large: null };
  const most = ANSWERS.has(of.step?.type) ? MAX_ANSWER_BYTES : MAX_RESULT_BYTES;
  const read = readValue(outcome.result, threshold, 'result', most);
  const { log, turn, digest, context } = outcome;
  const ofAgent = {
    ...(turn && { turn }),
    ...(digest !== undefined && { digest }),
    ...(Number.isSafeInteger(context) && { context }),
  };
  const consumed = consumedIn(outcome);
  if (read.error !== null) {
    const failed = { type: 'attempt_failed', step, attempt, error: read.error, retryable: false, random } as const;
    return { command: { ...failed, log, ...consumed }, large: null };
  }
  if (read.large === null)
    return {
      command: { type: 'attempt_succeeded', step, attempt, result: outcome.result, log, ...consumed, ...ofAgent },
      large: null,
    };
  const result = new StoredValue(read.large.id, read.bytes);
  const command = { type: 'attempt_succeeded', step, attempt, result, log, ...consumed, ...ofAgent } as const;
  return { command, large: read.large };
}

/** `of`: the run, and when the attempt started, in ms since the epoch. */
export type EndedAttempt = {
  step: string;
  attempt: number;
  random: number;
  threshold?: number;
  of: { run: { id: string }; now: number; step?: { type: string } };
};

function outcomeCommand(
  step: string,
  attempt: number,
  outcome: Exclude<Outcome, { kind: 'completed' | 'expanding' | 'calling' }>,
  random: number,
): Command {
  switch (outcome.kind) {
    case 'waiting':
      return { type: 'attempt_waiting', step, attempt, task: outcome.task };
    case 'sleeping':
      return { type: 'attempt_sleeping', step, attempt, until: outcome.until };
    case 'failed': {
      const { error, retryable, retryAfterMs, log } = outcome;
      const consumed = consumedIn(outcome);
      return {
        type: 'attempt_failed',
        step,
        attempt,
        error: shortened(error),
        retryable,
        random,
        retryAfterMs,
        log,
        ...consumed,
      };
    }
  }
}

/** Items, and the data that an agent starts from, are held in memory until the step has ended: they may be as large as a result. */
function expandingCommand(
  step: string,
  attempt: number,
  { plan, items, agent, log }: Extract<Outcome, { kind: 'expanding' }>,
  random: number,
): Command {
  const { error } = agent
    ? readValue(agent, MAX_RESULT_BYTES, 'settings')
    : readValue(items, MAX_RESULT_BYTES, 'items');
  if (error !== null) return { type: 'attempt_failed', step, attempt, error, retryable: false, random, log };
  return { type: 'attempt_expanding', step, attempt, plan, items, ...(agent && { agent }), log };
}

/**
 * The id of the called run is derived from run, step and attempt, and carries the start time of the attempt: its log
 * lies in the partition of the month in which it starts.
 */
function callingCommand(
  { step, attempt, random, of }: Omit<EndedAttempt, 'threshold'>,
  { call, log }: Extract<Outcome, { kind: 'calling' }>,
): Command {
  const {
    workflowId: workflow_id,
    version,
    input,
    detach,
    outsideInput: outside_input,
    privateInput: private_input,
    agentId,
  } = call;
  const { error } = readValue(input, MAX_RESULT_BYTES, 'input');
  if (error !== null) return { type: 'attempt_failed', step, attempt, error, retryable: false, random, log };
  const run_id = derivedId(of.now, [of.run.id, step, attempt]);
  const origin = {
    ...(outside_input !== undefined && { outside_input }),
    ...(private_input !== undefined && { private_input }),
  };
  const agent = agentId === undefined ? {} : { agent: { id: agentId } };
  const data = { run_id, workflow_id, version, input, ...(detach && { detach }), ...origin, ...agent };
  return { type: 'attempt_calling', step, attempt, call: data, log };
}

/**
 * Returns the usage to charge in addition to the step: positive integers only, so that a provider's invalid answer
 * cannot corrupt the ledger.
 */
function consumedIn({ consumed }: { consumed?: Consumption[] }): { consumed?: Consumption[] } {
  const charged = consumed?.filter(({ quantity }) => Number.isSafeInteger(quantity) && quantity > 0) ?? [];
  return charged.length === 0 ? {} : { consumed: charged };
}

/** Details explain an error: if they cannot be kept they are left out, and the rest of the error is unchanged. */
function shortened({ code, message, details }: StepError): StepError {
  const text = message.length <= MAX_ERROR_LENGTH ? message : `${message.slice(0, MAX_ERROR_LENGTH)}…`;
  const error = { code, message: text };
  if (details === undefined || typeof jsonSizeBound(details, 0) === 'string') return error;
  const detailed = { ...error, details };
  const isKept = storageProblem(details) === null && Buffer.byteLength(JSON.stringify(detailed)) <= MAX_ERROR_BYTES;
  return isKept ? detailed : error;
}

type ReadResult = { error: StepError } | { error: null; bytes: number; large: LargeResult | null };

/** Memory and log must agree on a result, so nothing is coerced. Only values that may be large are serialized. */
function readValue(
  value: JsonValue,
  threshold: number,
  name: 'result' | 'items' | 'input' | 'settings',
  most = MAX_RESULT_BYTES,
): ReadResult {
  const bound = jsonSizeBound(value, 0);
  if (typeof bound === 'string') {
    const is = name.endsWith('s') ? 'are' : 'is';
    return { error: { code: `${name}_not_json`, message: `The step's ${name} ${is} not JSON: ${bound}.` } };
  }
  if (bound <= threshold) return SMALL;
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes <= threshold) return SMALL;
  if (bytes <= most) return { error: null, bytes, large: { id: newId(), json } };
  const has = name.endsWith('s') ? 'have' : 'has';
  const message = `The step's ${name} ${has} ${bytes} bytes of JSON; at most ${most / 1024 / 1024} MiB is kept.`;
  return { error: { code: `${name}_too_large`, message } };
}

const SMALL: ReadResult = { error: null, bytes: 0, large: null };

/**
 * Returns an upper bound of the bytes of a value's JSON, without serializing it; or a description
 * of what is not JSON in it.
 */
function jsonSizeBound(value: unknown, depth: number): number | string {
  if (value === null) return 4;
  switch (typeof value) {
    case 'string':
      return value.length * 6 + 2;
    case 'boolean':
      return 5;
    case 'number':
      return Number.isFinite(value) ? 25 : `the number ${value}`;
    case 'bigint':
      return isInt64(value) ? 25 : `an integer of more than 64 bits`;
    case 'object':
      if (depth >= MAX_DEPTH) return `it is nested more than ${MAX_DEPTH} levels deep`;
      return Array.isArray(value) ? arrayBound(value, depth) : objectBound(value, depth);
    default:
      return `a value of type ${typeof value}`;
  }
}

function arrayBound(values: readonly unknown[], depth: number): number | string {
  let total = 2;
  for (const value of values) {
    const size = jsonSizeBound(value, depth + 1);
    if (typeof size === 'string') return size;
    total += size + 1;
  }
  return total;
}

function objectBound(value: object, depth: number): number | string {
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return `an object of class ${prototype?.constructor?.name}`;
  let total = 2;
  for (const [key, field] of Object.entries(value as Record<string, unknown>)) {
    // As in JSON, an undefined field is absent.
    if (field === undefined) continue;
    const size = jsonSizeBound(field, depth + 1);
    if (typeof size === 'string') return size;
    total += key.length * 6 + 4 + size;
  }
  return total;
}
