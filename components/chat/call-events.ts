export type CallEvent = { event_type: string; created_at: string; data: Record<string, unknown> };

const ENDS: ReadonlySet<string> = new Set(['step_completed', 'step_failed', 'step_cancelled']);

/**
 * Returns a step's duration from its first start to its end, its credits and its number of attempts; null before it has
 * ended.
 */
export function factsOf(events: readonly CallEvent[]): { ms: number; credits: number; attempts: number } | null {
  const starts = events.filter(({ event_type }) => event_type === 'step_started');
  const end = events.findLast(({ event_type }) => ENDS.has(event_type));
  const [first] = starts;
  if (first === undefined || end === undefined) return null;
  return {
    ms: Math.max(0, Date.parse(end.created_at) - Date.parse(first.created_at)),
    credits: events.reduce((sum, { data }) => sum + (typeof data.credits === 'number' ? data.credits : 0), 0),
    attempts: starts.length,
  };
}
