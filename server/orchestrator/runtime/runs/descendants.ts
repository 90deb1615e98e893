import { AppError, unavailable } from '../../../platform/errors.ts';
import type { DescendantCounts, LogReader } from '../../log/index.ts';

export type DescendantLimits = { maxDescendants: number; maxActiveDescendants: number };

/** The numbers of runs beneath one run, including those that are being started. */
type Family = { started: number; active: number; tenants: Set<string> };
/** A read of the counts in progress. `ended`: the number of runs that ended meanwhile, which the answer may or may not include. */
type Reading = { done: Promise<void>; ended: number };

/** Families without active runs that are remembered, so that one that starts its runs one by one is not counted each time. */
const MAX_IDLE_FAMILIES = 10_000;

/**
 * Limits the runs beneath each run at the top (docs/adr/0030): those that its steps started by calls or by requests to this
 * service, and those that these did. The database has the counts (`run_descendants`, written with the first event of a run);
 * the one process that leads reads them once and goes on from there, so any number of starts at a time share them.
 */
export class Descendants {
  readonly #limits: DescendantLimits;
  readonly #reader: Pick<LogReader, 'countDescendants'>;
  readonly #families = new Map<string, Family>();
  readonly #readings = new Map<string, Reading>();

  constructor(limits: DescendantLimits, reader: Pick<LogReader, 'countDescendants'>) {
    this.#limits = limits;
    this.#reader = reader;
  }

  /** Returns the promise that `reserve` must await; null if the counts are known. */
  counting(root: string | null): Promise<void> | null {
    if (root === null || this.#families.has(root)) return null;
    const reading = this.#readings.get(root) ?? this.#read(root);
    return reading.done;
  }

  /**
   * Counts a run that starts beneath `root`, whose counts are known. Throws AppError 422 `too_many_descendants` or 429
   * `too_many_active_descendants` at a limit.
   */
  reserve(root: string | null, tenantId: string): void {
    if (root === null) return;
    const family = this.#families.get(root);
    if (family === undefined) throw new Error(`the runs beneath ${root} are not counted`);
    const { maxDescendants, maxActiveDescendants } = this.#limits;
    if (family.started >= maxDescendants)
      throw new AppError(
        422,
        'too_many_descendants',
        `The run ${root} and the runs beneath it have started ${family.started} runs, which is the limit.`,
      );
    if (family.active >= maxActiveDescendants)
      throw new AppError(
        429,
        'too_many_active_descendants',
        `Beneath the run ${root}, ${family.active} runs are active, which is the limit.`,
        { headers: { 'Retry-After': '5' } },
      );
    family.started += 1;
    family.active += 1;
    family.tenants.add(tenantId);
  }

  /** Forgets the counts that include runs of these workspaces: another process starts and ends them from now on. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const [root, { tenants }] of this.#families)
      if (tenants.size === 0 || [...tenants].some(isOf)) this.#families.delete(root);
  }

  /** Uncounts a run that did not start after all. */
  release(root: string | null): void {
    const family = root === null ? undefined : this.#families.get(root);
    if (root === null || family === undefined) return;
    family.started -= 1;
    this.ended(root);
  }

  /** Call this when a run beneath `root` has ended. */
  ended(root: string | null): void {
    if (root === null) return;
    const reading = this.#readings.get(root);
    if (reading !== undefined) reading.ended += 1;
    const family = this.#families.get(root);
    if (family === undefined) return;
    family.active = Math.max(0, family.active - 1);
    if (family.active > 0) return;
    // Moved to the end: the families that have been idle for longest are forgotten first.
    this.#families.delete(root);
    this.#families.set(root, family);
    this.#forgetIdle();
  }

  #read(root: string): Reading {
    const reading: Reading = { done: Promise.resolve(), ended: 0 };
    reading.done = this.#reader
      .countDescendants(root)
      .then(
        counts => this.#know(root, counts, reading.ended),
        (error: unknown) => {
          throw unavailable('unavailable', 'The database is not available.', 2, error);
        },
      )
      .finally(() => this.#readings.delete(root));
    this.#readings.set(root, reading);
    return reading;
  }

  #know(root: string, { started, active }: DescendantCounts, ended: number): void {
    this.#families.set(root, { started, active: Math.max(0, active - ended), tenants: new Set() });
  }

  #forgetIdle(): void {
    if (this.#families.size <= MAX_IDLE_FAMILIES) return;
    for (const [root, { active }] of this.#families) {
      if (this.#families.size <= MAX_IDLE_FAMILIES) return;
      if (active === 0) this.#families.delete(root);
    }
  }
}
