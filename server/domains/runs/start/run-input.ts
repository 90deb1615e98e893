import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { isObject } from '../../../platform/json.ts';

/** Keys of a start's params that do not belong to the input (docs/specification/runs.md#start). */
export const reservedParams: ReadonlySet<string> = new Set([
  'run_id',
  'session_id',
  'mode',
  'trigger_type',
  'trigger_payload',
  'trigger_steps',
  'seed_results',
  'use_run_setup_defaults',
  'webhook_payload',
]);

/**
 * Returns the value of `{{input.*}}`: free-form keys replace the keys of `webhook_payload`, which replace those of
 * `trigger_payload`.
 */
export function assembleInput(params: JsonMap): JsonMap {
  if (!isAnyReserved(params)) return params;
  const input: [string, JsonValue][] = [];
  for (const payload of [params.trigger_payload, params.webhook_payload]) {
    if (isObject(payload)) input.push(...Object.entries(payload));
  }
  input.push(...Object.entries(params).filter(([key]) => !reservedParams.has(key)));
  // fromEntries defines properties, so a key `__proto__` stays an ordinary key. Later entries replace earlier ones.
  return Object.fromEntries(input);
}

function isAnyReserved(params: JsonMap): boolean {
  for (const key of reservedParams) if (Object.hasOwn(params, key)) return true;
  return false;
}

/** Merges `over` onto `beneath`: objects are merged at every depth, and all other values (arrays too) are replaced. */
export function mergeBeneath(over: JsonMap, beneath: JsonMap): JsonMap {
  const merged = new Map<string, JsonValue>(Object.entries(beneath));
  for (const [key, value] of Object.entries(over)) {
    const below = merged.get(key);
    merged.set(key, isObject(value) && isObject(below) ? mergeBeneath(value, below) : value);
  }
  return Object.fromEntries(merged);
}
