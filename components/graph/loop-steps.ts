import { isObject } from '@/server/platform/json.ts';

/** Returns the steps of a loop; null where it has none that can be drawn: a draft may hold anything there. */
export function stepsOfLoop<Step extends { type: string; steps?: unknown }>({
  type,
  steps,
}: Step): readonly Step[] | null {
  if (type !== 'for_each' || !Array.isArray(steps)) return null;
  const isWhole = (each: unknown): each is Step =>
    isObject(each) && typeof each.id === 'string' && typeof each.type === 'string';
  return steps.every(isWhole) ? (steps as readonly Step[]) : null;
}
