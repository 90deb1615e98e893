import { entryBytes } from '../../log/entry.ts';
import { guaranteedShare, type LogEntry, type WriterLimits } from '../../log/index.ts';
import { TENANTS } from '../scenario.ts';
import type { Surroundings } from '../surroundings.ts';

type Tenant = {
  /** Rows and bytes of the tenant's entries that wait for their commit, in flight or not. */
  rows: number;
  bytes: number;
  /** The tenant's entries that were not sent yet, in the order in which they were appended. */
  readonly waiting: LogEntry[];
  /** The number of batches without an entry of the tenant that were sent since the tenant began to wait. */
  passed: number;
  /** The size of the tenant's last entry, in rows. */
  lastCost: number;
  /** The rows that the tenant has appended in turn `turn` of the event loop. */
  appended: number;
  turn: number;
};

/**
 * Counts the entries that wait for their commit, independently of the log (docs/adr/0029-shares-of-the-commit-queue.md).
 * Checks that:
 * - a run appends only while its tenant holds fewer rows and bytes than are free, or fewer than it is guaranteed, and a
 *   caller is refused only if not;
 * - the entries of a tenant are sent in order. While one waits, the number of batches without it is at most the number of tenants,
 *   plus the number of quanta in the tenant's last entry;
 * - while others wait, a tenant decides and sends at most a quantum at a time, and the entry that exceeds the quantum.
 */
export class ShareWatch {
  readonly #at: Surroundings;
  readonly #limits: WriterLimits;
  readonly #guaranteed: { readonly rows: number; readonly bytes: number };
  readonly #quantum: number;
  readonly #tenants = new Map<string, Tenant>();
  #rows = 0;
  #bytes = 0;

  constructor(at: Surroundings, limits: WriterLimits) {
    this.#at = at;
    this.#limits = limits;
    this.#guaranteed = guaranteedShare(limits);
    this.#quantum = limits.quantumRows;
  }

  /** Call this for each entry, and the returned function when the entry is committed or refused. */
  appended(entry: LogEntry): () => void {
    const { tenantId } = entry.owner;
    const tenant = this.#tenant(tenantId);
    if (!this.#hasRoom(tenant))
      this.#fail(
        `${tenantId} appends beside ${tenant.rows} of ${this.#rows} rows, ${tenant.bytes} of ${this.#bytes} B`,
      );
    this.#checkTurn(tenantId, tenant, entry.rows.length);
    const bytes = entryBytes(entry);
    this.#count(tenant, entry.rows.length, bytes);
    tenant.waiting.push(entry);
    if (!this.#hasRoom(tenant)) this.#at.count('share of the queue used up');
    return () => this.#count(tenant, -entry.rows.length, -bytes);
  }

  /** Call this for each batch that is sent. */
  sent(batch: readonly LogEntry[]): void {
    const [first] = batch;
    // A part of a refused batch was already counted with the whole batch.
    if (first === undefined || !this.#tenant(first.owner.tenantId).waiting.includes(first)) return;
    const waited = [...this.#tenants.values()].filter(({ waiting }) => waiting.length > 0);
    if (waited.length > 1) this.#at.count('tenants wait for their commits');
    const costs = new Map<Tenant, number[]>();
    // Within a batch, entries are in the order of their run ids.
    const sentNow = new Set(batch);
    for (const [id, tenant] of this.#tenants) {
      const sent = tenant.waiting.splice(0, batch.filter(({ owner }) => owner.tenantId === id).length);
      if (!sent.every(entry => sentNow.has(entry))) this.#fail(`an entry of ${id} overtakes another`);
      if (sent.length > 0) costs.set(tenant, sent.map(this.#costOf, this));
    }
    for (const tenant of waited) {
      const sent = costs.get(tenant);
      if (sent === undefined) this.#passedOver(tenant);
      // The tenant begins to wait again, even if no other tenant waits.
      else tenant.passed = 0;
      if (sent !== undefined && waited.length > 1) this.#checkQuantum(tenant, sent);
    }
  }

  /** Checks that a caller was refused because the share of its tenant is used up. */
  checkRefused(tenantId: string): void {
    if (this.#hasRoom(this.#tenant(tenantId))) this.#fail(`a caller of ${tenantId} is refused, which has a share left`);
  }

  #checkTurn(tenantId: string, tenant: Tenant, rows: number): void {
    const { steps } = this.#at.agenda;
    if (tenant.turn !== steps) tenant.appended = 0;
    tenant.turn = steps;
    const isShared = [...this.#tenants.values()].some(other => other !== tenant && other.bytes > 0);
    if (isShared && tenant.appended >= this.#quantum)
      this.#fail(`${tenantId} goes on deciding beside ${tenant.appended} rows of this turn`);
    if (tenant.appended >= this.#limits.batchRows)
      this.#fail(`${tenantId} decides more than a batch takes: ${tenant.appended} rows`);
    tenant.appended += rows;
  }

  #checkQuantum(tenant: Tenant, sent: readonly number[]): void {
    tenant.lastCost = sent.at(-1) ?? 0;
    const before = sent.slice(0, -1).reduce((sum, cost) => sum + cost, 0);
    if (before >= this.#quantum) this.#fail(`a batch has ${sent} rows of a tenant while others wait`);
  }

  #passedOver(tenant: Tenant): void {
    tenant.passed += 1;
    const maxPassed = TENANTS.length + Math.ceil(tenant.lastCost / this.#quantum) + 1;
    if (tenant.passed > maxPassed) this.#fail(`${tenant.passed} batches are sent while the entry of a tenant waits`);
  }

  #hasRoom({ rows, bytes }: Tenant): boolean {
    const { queuedRows, queuedBytes } = this.#limits;
    const hasRows = rows < this.#guaranteed.rows || rows < queuedRows - this.#rows;
    return hasRows && (bytes < this.#guaranteed.bytes || bytes < queuedBytes - this.#bytes);
  }

  #costOf(entry: LogEntry): number {
    const { batchRows, batchBytes } = this.#limits;
    return Math.max(entry.rows.length, entryBytes(entry) / (batchBytes / batchRows));
  }

  #count(tenant: Tenant, rows: number, bytes: number): void {
    tenant.rows += rows;
    tenant.bytes += bytes;
    this.#rows += rows;
    this.#bytes += bytes;
  }

  #tenant(id: string): Tenant {
    let tenant = this.#tenants.get(id);
    if (tenant === undefined) {
      tenant = { rows: 0, bytes: 0, waiting: [], passed: 0, lastCost: 0, appended: 0, turn: -1 };
      this.#tenants.set(id, tenant);
    }
    return tenant;
  }

  #fail(message: string): void {
    this.#at.fail('shares', message);
  }
}
