import fc from 'fast-check';
import type { Pool } from 'pg';
import { expect, test } from 'vitest';
import { readHorizon } from './horizon.ts';

/**
 * A table that several sessions write, in any order of their steps. The model takes from PostgreSQL only what horizon.test.ts proves
 * of it: a statement locks the table before it draws numbers, and keeps the lock until its rows are visible or never will be.
 */
class NumberedRows {
  readonly visible = new Set<number>();
  readonly #sessions: Session[];
  readonly #schedule: readonly (readonly number[])[];
  #last = 0;
  #at = 0;

  /** `schedule`: the sessions that take a step before and after each answer, in order; after it, all of them go on. */
  constructor(sessions: readonly (readonly Transaction[])[], schedule: readonly (readonly number[])[]) {
    this.#sessions = sessions.map(todo => ({ todo: [...todo], step: 0, drawn: [] }));
    this.#schedule = schedule;
  }

  get isOver(): boolean {
    return this.#sessions.every(({ todo }) => todo.length === 0);
  }

  /** Answers what `readHorizon` asks, each time at a moment between two steps. */
  readonly pool = {
    query: async (asked: string | { values: [string, string[] | null] }) => {
      this.#advance();
      const rows = typeof asked === 'string' ? [{ last: String(this.#last) }] : this.#holders(asked.values[1]);
      this.#advance();
      return { rows };
    },
  } as unknown as Pool;

  #holders(among: readonly string[] | null): { transaction: string; pid: number }[] {
    return this.#sessions.flatMap(({ step, todo }, pid) => {
      const transaction = `${pid}/${todo.length}`;
      return step > 0 && (among === null || among.includes(transaction)) ? [{ transaction, pid }] : [];
    });
  }

  #advance(): void {
    const all = this.#sessions.map((_, index) => index);
    for (const index of this.#schedule[this.#at] ?? all) this.#step(this.#sessions[index]);
    this.#at += 1;
  }

  /** Locks the table, draws a number, another one, and then ends. */
  #step(session: Session | undefined): void {
    const transaction = session?.todo[0];
    if (session === undefined || transaction === undefined) return;
    session.step += 1;
    if (session.step === 1) return;
    if (session.step < ENDS) {
      session.drawn.push(++this.#last);
      return;
    }
    if (!transaction.isLost) for (const number of session.drawn) this.visible.add(number);
    Object.assign(session, { todo: session.todo.slice(1), step: 0, drawn: [] });
  }
}

type Transaction = { isLost: boolean };
/** The transactions that are left, and how far the first of them is. */
type Session = { todo: Transaction[]; step: number; drawn: number[] };
const ENDS = 4;

test('beside any schedule of writers, a cursor that stops at the horizon reads every row once, in order', async () => {
  const transactions = fc.array(fc.record({ isLost: fc.boolean() }), { maxLength: 3 });
  const writers = fc.array(transactions, { minLength: 2, maxLength: 4 });
  const schedule = fc.array(fc.array(fc.nat(3), { maxLength: 12 }), { maxLength: 8 });
  let held = 0;
  await fc.assert(
    fc.asyncProperty(writers, schedule, fc.boolean(), async (writing, order, isPatient) => {
      const table = new NumberedRows(writing, order);
      const seen: number[] = [];
      for (let isLast = false; !isLast; ) {
        isLast = table.isOver;
        const horizon = await readHorizon(table.pool, 'run_usage', { waitMs: isPatient ? 60_000 : 0 });
        if (horizon === null) held += 1;
        const last = seen.at(-1) ?? 0;
        const found = [...table.visible].filter(number => number > last && number <= (horizon ?? 0));
        seen.push(...found.sort((one, other) => one - other));
      }
      expect(seen).toEqual([...table.visible].sort((one, other) => one - other));
    }),
    { numRuns: 300 },
  );
  // The test proves something only if statements have held their numbers.
  expect(held).toBeGreaterThan(50);
});
