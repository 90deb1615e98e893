import { type Hint, hintFor } from './hints.ts';

/**
 * A problem in a graph. `step_id`: null if the problem is not in a step. `path`: relative to the step. `hint`: a way out of it, if
 * one is known.
 */
export type GraphProblem = { step_id: string | null; path: string; code: string; message: string; hint?: string };

/** A problem as it is found. */
export type FoundProblem = Omit<GraphProblem, 'hint'> & { hint?: Hint | undefined };

/** Problems that a report shows. A graph of 1 MiB can hold 60,000: the response would be 4 MB. */
export const MAX_PROBLEMS = 200;
const MAX_STEP_ID_LENGTH = 64;
const MAX_PATH_LENGTH = 300;
const MAX_MESSAGE_LENGTH = 2_000;

const cut = (text: string, longest: number): string => (text.length > longest ? `${text.slice(0, longest)}…` : text);

/** The first problems that were found, and the number of all. */
export class ProblemList {
  readonly #items: FoundProblem[] = [];
  #omitted = 0;

  get count(): number {
    return this.#items.length + this.#omitted;
  }

  /** Whether problems were left out of `items`. */
  get isCut(): boolean {
    return this.#omitted > 0;
  }

  /** The problems that were kept, with their whole paths. */
  get items(): readonly FoundProblem[] {
    return this.#items;
  }

  push(problem: FoundProblem): void {
    if (this.#items.length < MAX_PROBLEMS) this.#items.push(problem);
    else this.#omitted += 1;
  }

  append(list: ProblemList): void {
    for (const problem of list.items) this.push(problem);
    this.#omitted += list.#omitted;
  }

  /** Appends the problems of nested steps. Each is reported on the step that contains them, with the path in that step. */
  appendWithin(list: ProblemList, step_id: string, pathOf: (step: string | null) => string): void {
    for (const { step_id: inner, path, code, message, hint } of list.items) {
      const at = pathOf(inner);
      this.push({ step_id, path: path === '' ? at : `${at}.${path}`, code, message, hint });
    }
    this.#omitted += list.#omitted;
  }

  /** Returns the problems as a response shows them. The last one gives the number of hidden ones. */
  toReport(): GraphProblem[] {
    const shown = this.#items.map(({ step_id, path, code, message, hint: own }): GraphProblem => {
      const hint = hintFor(code, own);
      return {
        step_id: step_id === null ? null : cut(step_id, MAX_STEP_ID_LENGTH),
        path: cut(path, MAX_PATH_LENGTH),
        code,
        message: cut(message, MAX_MESSAGE_LENGTH),
        ...(hint === undefined ? {} : { hint: cut(hint, MAX_MESSAGE_LENGTH) }),
      };
    });
    if (this.#omitted === 0) return shown;
    const message = `${this.#omitted} more ${this.#omitted === 1 ? 'problem is' : 'problems are'} not shown`;
    return [...shown, { step_id: null, path: '', code: 'more_problems', message }];
  }
}
