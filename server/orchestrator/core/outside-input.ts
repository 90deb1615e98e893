import type { RunStartedData } from './events.ts';

/**
 * Runs with these types of start always have text from outside in their input. Logs from before the field was recorded
 * have no other information.
 */
const OUTSIDE: ReadonlyMap<string, string> = new Map([
  ['webhook', 'from a webhook'],
  ['on_failure', 'from a run that failed'],
]);

/** Returns the source of the input of a run, if the input contains text from outside of the workspace; otherwise null. */
export function outsideInputOf(started: Pick<RunStartedData, 'outside_input' | 'trigger_type'> | null): string | null {
  return started?.outside_input ?? OUTSIDE.get(started?.trigger_type ?? '') ?? null;
}

/** Returns the source of the input of a run, if a run or a failure put private data into it; otherwise null. */
export function privateInputOf(started: Pick<RunStartedData, 'private_input' | 'trigger_type'> | null): string | null {
  return started?.private_input ?? (started?.trigger_type === 'on_failure' ? 'from a run that failed' : null);
}
