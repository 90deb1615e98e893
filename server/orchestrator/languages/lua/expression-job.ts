import { readJson } from '../../../platform/json-text.ts';
import type { JsonMap, JsonValue, StepError } from '../../core/index.ts';
import { CelError, CelSyntaxError, expression, jsonOf, typeName } from '../cel/index.ts';
import type { LuaData, LuaOutcome } from './sandbox.ts';

/** The result of an expression: true or false, or the type of any other result. */
export type Verdict = { value: boolean } | { type: string };

/** The kind of result to return: a Verdict, or the value as JSON. */
export type Wanted = 'verdict' | 'value';

/**
 * Evaluates an expression in a worker, on the texts that were sent to the worker. `result` is the verdict or the value
 * as JSON.
 */
export function evaluateApart(text: string, data: LuaData, wants: Wanted): LuaOutcome {
  const texts = new Map(Object.entries(data.steps ?? {}));
  const parsed = new Map<string, JsonValue>();
  const result = (step: string): JsonValue => {
    const known = parsed.get(step);
    if (known !== undefined) return known;
    const json = texts.get(step);
    if (json === undefined) throw new Error(`"${step}" was not sent`);
    const value = readJson(json);
    parsed.set(step, value);
    return value;
  };
  const errors = new Map(Object.entries(data.errors ?? {}));
  const errorOf = (step: string): StepError | undefined => {
    const json = errors.get(step);
    return json === undefined ? undefined : (readJson(json) as StepError);
  };
  try {
    const input = readJson(data.input ?? '{}') as JsonMap;
    const ancestors = () => new Set(texts.keys());
    const item = data.item === undefined ? null : { item: readJson(data.item), index: data.index ?? 0 };
    const value = expression(text).evaluate({ input, result, errorOf, ancestors, item });
    if (wants === 'value') return { ok: true, result: JSON.stringify(jsonOf(value)), log: [] };
    const verdict: Verdict = typeof value === 'boolean' ? { value } : { type: typeName(value) };
    return { ok: true, result: JSON.stringify(verdict), log: [] };
  } catch (error) {
    if (error instanceof CelError) return { ok: false, code: error.code, message: error.message, log: [] };
    if (error instanceof CelSyntaxError) {
      return { ok: false, code: 'expression_failed', message: error.message, log: [] };
    }
    throw error;
  }
}
