import { AppError } from '../../../platform/errors.ts';
import { PAYLOAD_THRESHOLD_BYTES } from '../../log/index.ts';
import type { MemoryLimits } from './memory-limits.ts';

const TIGHT_THRESHOLD_BYTES = 1_024;
/** A tenant is guaranteed one in this many bytes of the memory for runs, beyond the limit if necessary. */
const GUARANTEES = 1_024;

/** A run that is to be started. `besides`: bytes of its tenant that do not count. */
export type Wanted = { tenantId: string; besides: () => number };

/**
 * Counts the bytes of the runs in memory, by tenant, and says whether there is room for more. A tenant may start another
 * run, or continue one, only while its runs take fewer bytes than are free, or fewer than it is guaranteed
 * (docs/adr/0029-shares-of-the-commit-queue.md).
 */
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

  /** Whether another run may be loaded. An empty memory always has room, so that every run can be loaded at some time. */
  get hasRoom(): boolean {
    return this.#total < this.#limits.liveBytes;
  }

  /** Results larger than this many bytes are stored externally. The threshold is lower when memory is running out. */
  storeAbove(tenantId: string): number {
    const isTight = !this.hasRoom || this.heldBy(tenantId) >= this.#limits.liveBytesPerTenant;
    return isTight ? TIGHT_THRESHOLD_BYTES : PAYLOAD_THRESHOLD_BYTES;
  }

  /** Counts a change of the size of a run. */
  add(tenantId: string, bytes: number): void {
    this.#total += bytes;
    const held = this.heldBy(tenantId) + bytes;
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
    const held = this.heldBy(tenantId) - except;
    const { liveBytes, liveBytesPerTenant } = this.#limits;
    const free = liveBytes - (this.#total - except);
    return held < liveBytesPerTenant && (held < liveBytes / GUARANTEES || held < free);
  }

  /**
   * Throws AppError 429 if the tenant has no room for a new run, or for one that would be loaded again. `besides`: bytes of
   * the tenant that do not count.
   */
  admit(tenantId: string, besides = 0): void {
    if (this.admits({ tenantId, besides: () => besides })) return;
    throw new AppError(429, 'too_much_memory', 'The active runs of the workspace have used up its memory for runs.', {
      headers: { 'Retry-After': '5' },
    });
  }

  /** The bytes of the tenant's runs. */
  heldBy(tenantId: string): number {
    return this.#byTenant.get(tenantId) ?? 0;
  }
}
