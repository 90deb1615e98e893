import type { GraphStep, JsonValue } from '../core/index.ts';
import { collectReferences, type Reference } from '../languages/templates.ts';
import type { Attempt } from '../ports/step-type.ts';
import { stepTypeDescription } from './descriptions.ts';
import { inline } from './quoted.ts';

/**
 * Text from outside the workspace may contain instructions of an outsider. The origin of values is tracked through
 * templates: a step reads text from outside if it reads the input and the input is from outside, or if it reads the
 * result of a step whose type returns outside text or which itself reads such text. If the origin is unknown, the value
 * counts as from outside.
 */
type Origins = Pick<Attempt, 'ancestors' | 'stepOf' | 'outsideInput' | 'privateInput' | 'loop'>;

/**
 * Returns the places where the templates of a value read text from outside, each in the words that follow "text from
 * outside" in a sentence; empty if there are none.
 */
export function outsideOf(value: JsonValue, origins: Origins): string[] {
  const places = collectReferences(value).flatMap(found =>
    'reference' in found ? placeOf(found.reference, origins) : [],
  );
  return [...new Set(places)];
}

/**
 * Returns the places where the templates of a value read private data, each in the words that follow "private data" in
 * a sentence. A step that brings text from outside into a run may also bring data that only the workspace can read. For
 * inputs, it is known whether they are private.
 */
export function privateOf(value: JsonValue, origins: Origins): string[] {
  const { privateInput: outsideInput, loop } = origins;
  const stepOf = (step: string) => origins.stepOf?.(step);
  return outsideOf(value, { ancestors: () => origins.ancestors(), stepOf, outsideInput, loop });
}

function placeOf(reference: Reference, origins: Origins): string[] {
  const { source, step, error } = reference;
  switch (source) {
    case 'input':
      return origins.outsideInput == null ? [] : [`in the input of the run, ${origins.outsideInput}`];
    case 'steps':
      if (step === null || !isOutside(step, origins, new Set())) return [];
      return [`in the ${error ? 'error' : 'result'} of the step ${inline(step)}`];
    case 'item':
      return isItemOutside(origins) ? ['in the item of the loop'] : [];
    case 'index':
    case 'response':
      return [];
  }
}

/** `visited`: the steps on the current path, so that a cycle in a broken graph ends. */
function isOutside(step: string, origins: Origins, visited: Set<string>): boolean {
  if (visited.has(step)) return false;
  visited.add(step);
  const spec = origins.stepOf?.(step);
  if (spec === undefined) return true;
  switch (stepTypeDescription(spec.type)?.origin) {
    case undefined:
      return true;
    case 'inside':
      return false;
    case 'templates':
      return readsOutside({ ...spec } as JsonValue, origins, visited);
    case 'anything':
      return mayReadOutside(origins) || innerTypes(spec).some(isOutsideType);
  }
}

function readsOutside(value: JsonValue, origins: Origins, visited: Set<string>): boolean {
  return collectReferences(value).some(found => {
    if (!('reference' in found)) return true;
    const { source, step } = found.reference;
    if (source === 'input') return origins.outsideInput != null;
    if (source === 'item') return isItemOutside(origins);
    return source === 'steps' && step !== null && isOutside(step, origins, visited);
  });
}

/** A list from an expression or an outer loop may contain any value from earlier steps. */
function isItemOutside(origins: Origins): boolean {
  const items = (origins.loop?.items ?? null) as JsonValue;
  const references = collectReferences(items).flatMap(found => ('reference' in found ? found.reference : []));
  const isOpaque = typeof items === 'string' ? references.length === 0 : items === null;
  if (isOpaque || references.some(({ source }) => source === 'item')) return mayReadOutside(origins);
  return readsOutside(items, origins, new Set());
}

/** Whether any value from earlier steps may be from outside. */
function mayReadOutside(origins: Origins): boolean {
  if (origins.outsideInput != null) return true;
  return [...origins.ancestors()].some(id => {
    const spec = origins.stepOf?.(id);
    return spec === undefined || isOutsideType(spec.type) || innerTypes(spec).some(isOutsideType);
  });
}

const isOutsideType = (type: string): boolean => stepTypeDescription(type)?.origin === undefined;

/** Returns the types of the steps in a loop, at any depth. */
function innerTypes({ steps }: GraphStep): string[] {
  if (!Array.isArray(steps)) return [];
  return (steps as GraphStep[]).flatMap(inner => [inner.type, ...innerTypes(inner)]);
}
