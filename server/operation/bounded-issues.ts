import type { z } from 'zod';
import { MAX_DETAILS } from '../platform/errors.ts';

/**
 * Collects the issues of a value that may have one in each part: as many as a response shows, and one issue with the number of
 * the others. zod takes several microseconds for each issue, and a body of 1 MiB can have 700,000.
 */
export class BoundedIssues {
  readonly #context: z.RefinementCtx;
  #added = 0;
  #others = 0;

  constructor(context: z.RefinementCtx) {
    this.#context = context;
  }

  /** Adds `count` issues; calls `issues` only if one of them is shown. */
  add(count: number, issues: () => readonly { path: PropertyKey[]; message: string }[]): void {
    if (this.#added >= MAX_DETAILS) {
      this.#others += count;
      return;
    }
    for (const issue of issues()) this.#context.addIssue({ code: 'custom', ...issue });
    this.#added += count;
  }

  /** Adds the issue with the number of the others. Must be called after the last `add`. */
  end(): void {
    if (this.#others === 0) return;
    const message = `${this.#others} more problems`;
    this.#context.addIssue({ code: 'custom', message, params: { problems: this.#others } });
  }
}

/** Returns the number of problems that an issue represents. */
export function problemsIn(issue: z.core.$ZodIssue): number {
  if (issue.code === 'unrecognized_keys') return issue.keys.length;
  const counted: unknown = issue.code === 'custom' ? issue.params?.problems : undefined;
  return typeof counted === 'number' ? counted : 1;
}
