import { AppError, unavailable } from '../../../../platform/errors.ts';
import { PAYLOAD_THRESHOLD_BYTES } from '../../../log/index.ts';
import type { MemoryLimits } from './memory-limits.ts';

const TIGHT_THRESHOLD_BYTES = 1_024;

/** A run that is to be started. `besides`: bytes of its tenant that do not count. */
export type Wanted = { tenantId: string; besides: () => number };

/** Counts the bytes of the runs in memory, by tenant, and says whether there is room for more. */
export class LiveMemory {
  readonly #limits: MemoryLimits;
  readonly #byTenant = new Map<string, number>();
  #total = 0;
  #whenRoom: (() => void)[] = [];
  #whenAdmitted: { wanted: Wanted; act: () => void }[] = [];

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /** Whether another run may be loaded. There is always room when nothing is in memory, so every run gets its turn. */
  get hasRoom(): boolean {
    return this.#total < this.#limits.liveBytes;
  }

  /** Results larger than this many bytes are stored externally. The threshold is lower when memory is running out. */
  storeAbove(tenantId: string): number {
    const isTight = !this.hasRoom || this.#of(tenantId) >= this.#limits.liveBytesPerTenant;
    return isTight ? TIGHT_THRESHOLD_BYTES : PAYLOAD_THRESHOLD_BYTES;
  }

  /** Counts a change of the size of a run. */
  add(tenantId: string, bytes: number): void {
    this.#total += bytes;
    const held = this.#of(tenantId) + bytes;
    if (held > 0) this.#byTenant.set(tenantId, held);
    else this.#byTenant.delete(tenantId);
    if (bytes >= 0 || !(this.#whenRoom.length > 0 || this.#whenAdmitted.length > 0)) return;
    if (this.hasRoom) for (const act of this.#whenRoom.splice(0)) act();
    const admitted = this.#whenAdmitted.filter(({ wanted }) => this.admits(wanted));
    this.#whenAdmitted = this.#whenAdmitted.filter(each => !admitted.includes(each));
    for (const { act } of admitted) act();
  }

  /** Calls back once, as soon as there is room. */
  onRoom(act: () => void): void {
    this.#whenRoom.push(act);
  }

  /** Calls back once, as soon as a run would be admitted. */
  onAdmitted(wanted: Wanted, act: () => void): void {
    this.#whenAdmitted.push({ wanted, act });
  }

  /** Whether `admit` would not throw. */
  admits({ tenantId, besides }: Wanted): boolean {
    const except = besides();
    const fits = this.#of(tenantId) - except < this.#limits.liveBytesPerTenant;
    return fits && this.#total - except < this.#limits.liveBytes;
  }

  /**
   * Throws if there is no room for a new run, or for one that would be loaded again: AppError 429 if its tenant has
   * reached its limit, 503 if all runs together have. `besides`: bytes of the tenant that do not count.
   */
  admit(tenantId: string, besides = 0): void {
    if (this.#total - besides >= this.#limits.liveBytes)
      throw unavailable('overloaded', 'The active runs have used up the memory for runs.', 5);
    if (this.#of(tenantId) - besides < this.#limits.liveBytesPerTenant) return;
    throw new AppError(429, 'too_much_memory', 'The active runs of the workspace have used up its memory for runs.', {
      headers: { 'Retry-After': '5' },
    });
  }

  #of(tenantId: string): number {
    return this.#byTenant.get(tenantId) ?? 0;
  }
}
