import { Fifo } from '../../platform/fifo.ts';
import type { LogEntry } from './entry.ts';

export type WriterLimits = {
  /**
   * The limits of the backlog of all tenants. A tenant that has used up its share must append nothing: its commands are
   * refused, and it starts no steps (CommitQueue).
   */
  queuedRows: number;
  queuedBytes: number;
  /** The limits of one commit, so that a backlog never becomes one huge statement. */
  batchRows: number;
  batchBytes: number;
  /** The number of rows of a tenant that are decided, and written, at a time while other tenants are present. */
  quantumRows: number;
  /**
   * Fewer entries than this are not sent while a batch is in flight: they can share a commit,
   * and each commit has a cost.
   */
  worthEntries: number;
};

/**
 * 64 MiB of backlog is a few seconds of a busy database; beyond 4,000 rows a commit, larger batches are no faster. A
 * quantum takes PostgreSQL some 3 ms, for which other tenants wait.
 */
export const DEFAULT_LIMITS: WriterLimits = {
  queuedRows: 50_000,
  queuedBytes: 64 * 1024 * 1024,
  batchRows: 4_000,
  batchBytes: 8 * 1024 * 1024,
  quantumRows: 125,
  worthEntries: 16,
};

/** A tenant's guaranteed share of the queue, beyond its limits if necessary, is one in this many. */
const GUARANTEES = 256;
/** A tenant is present while it has entries, and for this many batches after its last one. */
const PRESENT_BATCHES = 64;

/** The rows and bytes in the queue that are guaranteed to each tenant. */
export const guaranteedShare = ({ queuedRows, queuedBytes }: WriterLimits) => ({
  rows: Math.max(1, Math.floor(queuedRows / GUARANTEES)),
  bytes: Math.max(1, Math.floor(queuedBytes / GUARANTEES)),
});

/** An entry whose caller waits for its commit. */
export type Waiting = {
  readonly entry: LogEntry;
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
};

type Tenant = {
  /** Rows and bytes of its entries, queued and in flight. */
  rows: number;
  bytes: number;
  readonly waiting: Fifo<Waiting>;
  /** The number of the latest batch at the time when it last queued an entry. */
  seenAt: number;
  /** The rows that it may still write in batch number `leftIn`; negative after an entry that was larger. */
  left: number;
  leftIn: number;
};

const newTenant = (): Tenant => ({ rows: 0, bytes: 0, waiting: new Fifo(), seenAt: 0, left: 0, leftIn: -1 });

/**
 * The entries that wait for their commit or are in flight, shared between tenants as slots are
 * (docs/adr/0029-shares-of-the-commit-queue.md). A tenant may append only while it holds fewer rows and bytes than are
 * free (dynamic thresholds), or fewer than it is guaranteed. Tenants take turns in a batch, entry by entry; while more
 * than one is present, each writes a quantum at a time. Every operation is O(1) per entry, amortized.
 */
export class CommitQueue {
  readonly #limits: WriterLimits;
  readonly #guaranteed: { readonly rows: number; readonly bytes: number };
  readonly #quantum: number;
  readonly #bytesPerRow: number;
  #rows = 0;
  #bytes = 0;
  #size = 0;
  #batches = 0;
  /** The tenants that are present; the one that last queued an entry longest ago is first. */
  readonly #tenants = new Map<string, Tenant>();
  /** Tenants with waiting entries, next first. */
  readonly #round = new Fifo<Tenant>();
  readonly #whenRoom = new Map<string, (() => void)[]>();

  constructor(limits: WriterLimits) {
    this.#limits = limits;
    this.#guaranteed = guaranteedShare(limits);
    this.#quantum = limits.quantumRows;
    this.#bytesPerRow = limits.batchBytes / limits.batchRows;
  }

  /** Rows queued and in flight. */
  get rows(): number {
    return this.#rows;
  }

  /** Bytes queued and in flight. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Entries that are not in flight yet. */
  get size(): number {
    return this.#size;
  }

  /** Whether more than one tenant is present. */
  get isShared(): boolean {
    return this.#tenants.size > 1;
  }

  /** Whether the tenant may append. The queue does not refuse an entry. */
  hasRoom(tenantId: string): boolean {
    const tenant = this.#tenants.get(tenantId);
    if (tenant === undefined) return true;
    const { rows, bytes } = tenant;
    const { queuedRows, queuedBytes } = this.#limits;
    return (
      (rows < this.#guaranteed.rows || rows < queuedRows - this.#rows) &&
      (bytes < this.#guaranteed.bytes || bytes < queuedBytes - this.#bytes)
    );
  }

  /** Calls `listener` once, as soon as the tenant may append. */
  onRoom(tenantId: string, listener: () => void): void {
    const listeners = this.#whenRoom.get(tenantId);
    if (listeners === undefined) this.#whenRoom.set(tenantId, [listener]);
    else listeners.push(listener);
  }

  add(waiting: Waiting): void {
    const { entry, bytes } = waiting;
    const tenant = this.#present(entry.owner.tenantId);
    tenant.rows += entry.rows.length;
    tenant.bytes += bytes;
    this.#rows += entry.rows.length;
    this.#bytes += bytes;
    this.#size += 1;
    if (tenant.waiting.size === 0) this.#round.push(tenant);
    tenant.waiting.push(waiting);
  }

  /** Takes at most this many entries for one batch: those of a tenant in their order. */
  take(most: number): Waiting[] {
    this.#batches += 1;
    this.#forgetAbsent();
    const batch: Waiting[] = [];
    const resting: Tenant[] = [];
    let rows = 0;
    let bytes = 0;
    while (batch.length < most) {
      const tenant = this.#round.peek();
      const waiting = tenant?.waiting.peek();
      if (tenant === undefined || waiting === undefined) break;
      if (this.isShared && this.#leftOf(tenant) <= 0) {
        this.#round.shift();
        resting.push(tenant);
        continue;
      }
      rows += waiting.entry.rows.length;
      bytes += waiting.bytes;
      if (batch.length > 0 && (rows > this.#limits.batchRows || bytes > this.#limits.batchBytes)) break;
      batch.push(waiting);
      this.#takeFrom(tenant, waiting);
    }
    for (const tenant of resting) this.#round.push(tenant);
    const [first] = resting;
    const waiting = first?.waiting.peek();
    // All of them have exceeded their quanta with large entries, and no other tenant would gain from the wait.
    if (batch.length === 0 && first !== undefined && waiting !== undefined) {
      first.left = 0;
      batch.push(waiting);
      this.#takeFrom(first, waiting);
    }
    return batch;
  }

  /** Takes all entries that are not in flight. */
  takeAll(): Waiting[] {
    const all: Waiting[] = [];
    for (let tenant = this.#round.shift(); tenant !== undefined; tenant = this.#round.shift())
      for (let waiting = tenant.waiting.shift(); waiting !== undefined; waiting = tenant.waiting.shift())
        all.push(waiting);
    this.#size = 0;
    return all;
  }

  /** Call this when an entry that was taken is committed or refused. */
  settled({ entry, bytes }: Waiting): void {
    this.#rows -= entry.rows.length;
    this.#bytes -= bytes;
    const tenant = this.#tenants.get(entry.owner.tenantId);
    if (tenant === undefined) return;
    tenant.rows -= entry.rows.length;
    tenant.bytes -= bytes;
  }

  /** Calls the listeners of the tenants that may append now. */
  notify(): void {
    for (const [tenantId, listeners] of this.#whenRoom) {
      if (!this.hasRoom(tenantId)) continue;
      this.#whenRoom.delete(tenantId);
      for (const listener of listeners) listener();
    }
  }

  #takeFrom(tenant: Tenant, waiting: Waiting): void {
    tenant.waiting.shift();
    this.#size -= 1;
    if (this.isShared) tenant.left -= Math.max(waiting.entry.rows.length, waiting.bytes / this.#bytesPerRow);
    if (tenant.waiting.size > 0 && this.#round.size === 1) return;
    // It is the first, except where all tenants rest.
    this.#round.shift();
    if (tenant.waiting.size > 0) this.#round.push(tenant);
  }

  /** The rows that the tenant may still write in this batch. What it wrote beyond its quantum is deducted later. */
  #leftOf(tenant: Tenant): number {
    const quanta = this.#batches - tenant.leftIn;
    if (quanta > 0) tenant.left = Math.min(this.#quantum, tenant.left + quanta * this.#quantum);
    tenant.leftIn = this.#batches;
    return tenant.left;
  }

  #present(tenantId: string): Tenant {
    const known = this.#tenants.get(tenantId);
    if (known?.seenAt === this.#batches) return known;
    const tenant = known ?? newTenant();
    tenant.seenAt = this.#batches;
    if (known !== undefined && this.isShared) this.#tenants.delete(tenantId);
    this.#tenants.set(tenantId, tenant);
    return tenant;
  }

  #forgetAbsent(): void {
    for (const [tenantId, { bytes, seenAt }] of this.#tenants) {
      if (bytes > 0 || this.#batches - seenAt <= PRESENT_BATCHES) return;
      this.#tenants.delete(tenantId);
    }
  }
}
