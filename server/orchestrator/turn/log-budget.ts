import { cleanText } from '../../platform/clean-json.ts';
import type { Outcome } from '../ports/step-type.ts';

/** Log lines kept for one step of a run, all attempts together (docs/specification/limits.md#sizes). Bytes of UTF-8. */
export const MAX_LOG_BYTES = 64 * 1024;
const TRUNCATED = '… further log lines are not kept (64 KiB for each step)';

/** Counts the log bytes of a run's steps. Starts at 0 when the run is folded again, so the limit holds per fold. */
export class LogBudget {
  readonly #used = new Map<string, number>();

  /** Returns the part of `lines` that fits; if some do not, the last line kept says so. */
  take(step: string, lines: readonly string[]): string[] {
    let used = this.#used.get(step) ?? 0;
    if (used >= MAX_LOG_BYTES) return [];
    const kept: string[] = [];
    for (const given of lines) {
      const line = cleanText(given);
      used += Buffer.byteLength(line) + 1;
      if (used > MAX_LOG_BYTES) {
        kept.push(TRUNCATED);
        used = MAX_LOG_BYTES;
        break;
      }
      kept.push(line);
    }
    this.#used.set(step, used);
    return kept;
  }
}

/** The log lines that a run keeps. Most runs have none, and need no budget. */
export class RunLog {
  #budget: LogBudget | null = null;

  keep(step: string, lines: readonly string[]): string[] {
    this.#budget ??= new LogBudget();
    return this.#budget.take(step, lines);
  }

  /** Returns the outcome without the lines that do not fit. */
  within(step: string, outcome: Outcome): Outcome {
    if (
      outcome.kind === 'waiting' ||
      outcome.kind === 'sleeping' ||
      outcome.log === undefined ||
      outcome.log.length === 0
    )
      return outcome;
    return { ...outcome, log: this.keep(step, outcome.log) };
  }
}
