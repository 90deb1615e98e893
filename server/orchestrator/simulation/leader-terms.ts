import type { LeaderTerms } from '../runtime/leadership/leader-terms.ts';
import { answerOf } from './reader.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';
import type { SimulatedTerm, TermTable } from './term-table.ts';

/** The terms of one process, recorded like leader-terms.ts records them, and how they really ended. */
export class ServerTerms implements LeaderTerms {
  readonly #table: TermTable;
  readonly #server: Server;
  readonly #at: Surroundings;
  readonly #process = { leftInOrder: false };
  #hasSaidSo = false;
  /** The terms whose numbers have reached the process. It records the survival of only these. */
  readonly #heard: SimulatedTerm[] = [];
  /** How often they were read again for a take that has not begun; takes of two terms may overlap. */
  #readsAgain = 0;

  constructor(table: TermTable, server: Server, at: Surroundings) {
    this.#table = table;
    this.#server = server;
    this.#at = at;
  }

  begin: LeaderTerms['begin'] = async () => {
    const before = [...this.#heard];
    const { begun, survived } = await answerOf(this.#server, this.#at, 'term not recorded', () => {
      for (const term of before) term.survived = true;
      const begun = this.#table.begin(this.#process);
      if (this.#server.session !== null) this.#server.session.term = begun.term;
      return { begun, survived: this.#table.survived.add(begun.term) };
    });
    this.#heard.push(begun);
    return { term: begun.term, survived };
  };

  readAgain: LeaderTerms['readAgain'] = async own => {
    const survived = await answerOf(this.#server, this.#at, 'terms not read again', () => this.#table.survived);
    for (const term of survived) if (term !== own.term) own.survived.add(term);
    this.#table.learn(own.term, survived);
    this.#readsAgain += 1;
  };

  /** Checks that the process has read before this take which terms were survived. */
  taking(): void {
    if (this.#readsAgain === 0) this.#at.fail('attempts', 'runs are taken by what was known when the term began');
    this.#readsAgain = Math.max(0, this.#readsAgain - 1);
  }

  survive: LeaderTerms['survive'] = async () => {
    this.#hasSaidSo = false;
    const before = [...this.#heard];
    await answerOf(this.#server, this.#at, 'survival not recorded', () => {
      for (const term of before) term.survived = true;
    });
    this.#hasSaidSo = true;
  };

  /** Notes that the process is alive after its term has ended. */
  outlived(): void {
    this.#end('outlived');
  }

  /** Notes that the process has shut down after SIGTERM. */
  leftInOrder(): void {
    this.#end('outlived');
    this.#process.leftInOrder = this.#hasSaidSo;
  }

  died(wasStopping: boolean): void {
    this.#end(wasStopping ? 'died while it shut down' : 'died');
  }

  #end(fate: SimulatedTerm['fate']): void {
    for (const term of this.#table.of(this.#process)) if (term.fate === 'open') term.fate = fate;
  }
}
