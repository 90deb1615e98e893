import type { RunState } from './state.ts';
import { BYTES_PER_STORED_VALUE, resultSize, type StepResult, StoredValue } from './stored-value.ts';

/** Adds to the bytes that the run holds; a negative number subtracts. */
export function hold(state: RunState, bytes: number): void {
  state.bytes += bytes;
  state.residentBytes += bytes;
}

/** Subtracts the result of a step that leaves memory. */
export function forgetResult(state: RunState, id: string): void {
  const result = state.results.get(id);
  if (result !== undefined) forget(state, result);
}

/** Subtracts a result. */
export function forget(state: RunState, result: StepResult): void {
  state.bytes -= resultSize(result);
  if (result instanceof StoredValue) {
    state.storedResults -= 1;
    state.residentBytes -= BYTES_PER_STORED_VALUE;
  } else state.residentBytes -= resultSize(result);
}
