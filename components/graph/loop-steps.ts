import { isObject } from '@/server/platform/json.ts';

/** Returns the steps of a loop; null if they cannot be drawn, because a draft may contain any JSON in their place. */
export function stepsOfLoop<Step extends { type: string; steps?: unknown }>({
  type,
  steps,
}: Step): readonly Step[] | null {
  if (type !== 'for_each' || !Array.isArray(steps)) return null;
  const isWhole = (each: unknown): each is Step =>
    isObject(each) && typeof each.id === 'string' && typeof each.type === 'string';
  return steps.every(isWhole) ? (steps as readonly Step[]) : null;
}
