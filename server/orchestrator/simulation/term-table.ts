/** `leftInOrder`: whether it shut down after SIGTERM and could record that. */
type Process = { readonly leftInOrder: boolean };

/** A term according to the database (`survived`), and how it really ended. */
export type SimulatedTerm = {
  readonly term: number;
  readonly process: Process;
  survived: boolean;
  /** The terms that were recorded as survived when this one began, or when its leader read them again. */
  known: ReadonlySet<number>;
  fate: 'open' | 'died' | 'outlived' | 'died while it shut down';
};

/** The terms of all processes, in the simulated database. */
export class TermTable {
  readonly #terms: SimulatedTerm[] = [];

  of(process: Process): SimulatedTerm[] {
    return this.#terms.filter(term => term.process === process);
  }

  get(term: number): SimulatedTerm | undefined {
    return this.#terms[term - 1];
  }

  get survived(): Set<number> {
    return new Set(this.#terms.flatMap(({ term, survived }) => (survived ? [term] : [])));
  }

  /** Notes that the leader of a term has heard of these as well. */
  learn(of: number, survived: ReadonlySet<number>): void {
    const term = this.get(of);
    if (term !== undefined) term.known = new Set([...term.known, ...survived]);
  }

  begin(process: Process): SimulatedTerm {
    const alive = this.#terms.filter(({ survived, process }) => survived || process.leftInOrder);
    const known = new Set(alive.map(({ term }) => term));
    const begun: SimulatedTerm = { term: this.#terms.length + 1, process, survived: false, known, fate: 'open' };
    this.#terms.push(begun);
    return begun;
  }
}
