import type { Json } from '@/server/platform/json.ts';
import {
  type Draft,
  type Edit,
  MAX_PINNED_RESULT_BYTES,
  pinsIn,
  withoutPin,
  withPin,
} from '../../../server/domains/workflows/edits/index.ts';

type Setup = Pick<Draft, 'run_setup'>;

/** Returns the pinned results of a draft by step id. */
export const pinsOf = (runSetup: Draft['run_setup']) => pinsIn(runSetup) as Readonly<Record<string, Json>>;

/** Returns the edit that pins the result of a step. */
export const planPin = ({ run_setup }: Setup, step: string, result: Json): Edit => ({
  type: 'set_run_setup',
  run_setup: withPin(run_setup, step, result),
});

/** Returns the edit that unpins the result of a step. */
export const planUnpin = ({ run_setup }: Setup, step: string): Edit => ({
  type: 'set_run_setup',
  run_setup: withoutPin(run_setup, step),
});

/** Returns whether a result is small enough to be pinned. */
export const isPinnable = (result: Json): boolean =>
  new TextEncoder().encode(JSON.stringify(result)).length <= MAX_PINNED_RESULT_BYTES;
