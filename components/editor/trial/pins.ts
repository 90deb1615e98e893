import { isObject, type Json } from '@/server/platform/json.ts';
import type { Draft, Edit } from '../../../server/domains/workflows/edits/index.ts';

/** The largest result that can be pinned, in bytes of JSON, as the server checks it. */
export const MAX_PINNED_BYTES = 64 * 1024;

/** Returns the pinned results of a draft, by the ids of their steps. */
export function pinsOf(runSetup: Draft['run_setup']): Readonly<Record<string, Json>> {
  const pins: unknown = runSetup.pinned_results;
  return isObject(pins) ? (pins as Readonly<Record<string, Json>>) : {};
}

/** Returns the edit that pins the result of a step. */
export function planPin({ run_setup }: Pick<Draft, 'run_setup'>, step: string, result: Json): Edit {
  const kept = Object.entries(pinsOf(run_setup)).filter(([id]) => id !== step);
  return {
    type: 'set_run_setup',
    run_setup: { ...run_setup, pinned_results: Object.fromEntries([...kept, [step, result]]) },
  };
}

/** Returns the edit that lets tests execute a step again. */
export function planUnpin({ run_setup }: Pick<Draft, 'run_setup'>, step: string): Edit {
  const { pinned_results: _, ...rest } = run_setup;
  const kept = Object.entries(pinsOf(run_setup)).filter(([id]) => id !== step);
  return {
    type: 'set_run_setup',
    run_setup: kept.length === 0 ? rest : { ...rest, pinned_results: Object.fromEntries(kept) },
  };
}

/** Whether a result is small enough to be pinned. */
export const isPinnable = (result: Json): boolean =>
  new TextEncoder().encode(JSON.stringify(result)).length <= MAX_PINNED_BYTES;
