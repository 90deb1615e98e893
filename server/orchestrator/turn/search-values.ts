import { cleanText } from '../../platform/clean-json.ts';
import { readJson } from '../../platform/json-text.ts';
import {
  type CompiledGraph,
  type JsonValue,
  MAX_SEARCH_VALUE_LENGTH,
  type RunEvent,
  type RunState,
  StoredValue,
  seedOf,
} from '../core/index.ts';
import { resolve, TemplateUnresolved } from '../languages/rendering.ts';
import type { LargeResult, SearchValue } from '../log/index.ts';
import { type SearchableField, searchableFields } from '../steps/searchable.ts';

/** Stored by graph, which all runs of a version share. */
const known = new WeakMap<CompiledGraph, readonly SearchableField[]>();

function fieldsOf(graph: CompiledGraph): readonly SearchableField[] {
  const fields = known.get(graph) ?? searchableFields(graph.searchable ?? {});
  known.set(graph, fields);
  return fields;
}

/**
 * Returns the values that the events of a turn give to searchable fields: those of the input once the run starts, those
 * of a step once it has a result. The index takes only texts of up to 200 characters, numbers and booleans; fields with
 * other values, or without one, are left out. `large`: the texts of results that are stored externally.
 */
export function searchValues(
  state: RunState,
  events: readonly RunEvent[],
  large: readonly LargeResult[],
): readonly SearchValue[] {
  const found = new Map<string, string>();
  const fields = fieldsOf(state.graph);
  for (const event of events) {
    const step = event.type === 'step_completed' ? event.step : event.type === 'run_started' ? null : undefined;
    if (step === undefined || !fields.some(({ reference }) => reference.step === step)) continue;
    const result = resultOf(state, event, large);
    if (result === undefined) continue;
    const scope = { input: state.started?.input ?? {}, result: () => result };
    for (const { name, reference } of fields) {
      const value = reference.step === step ? textOf(() => resolve(reference, scope)) : null;
      if (value !== null) found.set(name, value);
    }
  }
  return [...found].map(([name, value]) => ({ name, value }));
}

/** Returns the result that an event gives to its step; undefined if it gives none. */
function resultOf(state: RunState, event: RunEvent, large: readonly LargeResult[]): JsonValue | undefined {
  if (event.type !== 'step_completed') return null;
  if ('skipped' in event.data) return seedOf(state, event.step, event.data.reason);
  const { result } = event.data;
  if (!(result instanceof StoredValue)) return result;
  // A result of 1 MiB, the largest, takes a few ms to parse; only runs that search for a value in it do so.
  const json = large.find(({ id }) => id === result.id)?.json;
  return json === undefined ? undefined : readJson(json);
}

function textOf(read: () => JsonValue): string | null {
  let value: JsonValue;
  try {
    value = read();
  } catch (error) {
    if (error instanceof TemplateUnresolved) return null;
    throw error;
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '' || value.length > MAX_SEARCH_VALUE_LENGTH) return null;
  return cleanText(value);
}
