import { unavailable } from '../../../platform/errors.ts';
import type { CreditSource } from '../../ports/credits.ts';
import type { SpendingSource } from '../../ports/spending.ts';
import type { FaultLog } from '../runs/fault-log.ts';
import type { Timers } from '../runs/timers.ts';
import { CreditAccount } from './credit-account.ts';
import { Spenders } from './run-limits.ts';

/**
 * The longest until this process knows a grant or a change that another one made, for a workspace that uses something.
 */
export const REFRESH_MS = 5_000;
/**
 * A balance older than this is read again before a run starts. It is that old only if the
 * workspace has used nothing since.
 */
const STALE_MS = 3 * REFRESH_MS;
const RETRY_MS = 1_000;

export type MeterSources = { credits?: CreditSource | undefined; spending?: SpendingSource | undefined };
/** The parts of the runtime that the meter needs. */
export type MeterHost = { readonly timers: Timers; readonly faults: FaultLog; now(): number };

/**
 * The prices and balances of workspaces, in memory: read before anything of theirs starts or is charged, and again
 * every few seconds while they use something. An idle process reads nothing. Created empty for each term of leadership.
 */
export class CreditMeter {
  readonly #source: CreditSource | undefined;
  readonly #host: MeterHost;
  readonly #accounts = new Map<string, CreditAccount>();
  readonly #reading = new Map<string, Promise<CreditAccount>>();
  /** For each workspace, the read that follows the one in `#reading`. */
  readonly #next = new Map<string, Promise<CreditAccount>>();
  /** The error for callers that wait for a read. */
  readonly #waiting = new Set<(cause: unknown) => void>();
  /** Accounts that used something since they were last read. */
  #used = new Set<CreditAccount>();
  #armed = false;
  #over = false;

  /** The allowances of people. */
  readonly spenders: Spenders;

  /** Without `credits` everything is free. Without `spending` there is no daily limit. */
  constructor({ credits, spending }: MeterSources, host: MeterHost) {
    this.#source = credits;
    this.#host = host;
    this.spenders = new Spenders(spending);
  }

  /**
   * Returns the account if it is known and fresh, else a promise of it, which rejects with
   * AppError 503 if it cannot be read.
   */
  get(tenantId: string): CreditAccount | Promise<CreditAccount> {
    const known = this.#accounts.get(tenantId);
    if (known !== undefined && (this.#source === undefined || this.#isFresh(known))) return known;
    return this.#reading.get(tenantId) ?? this.reread(tenantId);
  }

  /** Returns the account for the start of a run. Reads a balance again that seems too small for one step. */
  forStart(tenantId: string): CreditAccount | Promise<CreditAccount> {
    const known = this.get(tenantId);
    const readIfPoor = (account: CreditAccount) => (account.affordsStep ? account : this.reread(tenantId));
    return known instanceof Promise ? known.then(readIfPoor) : readIfPoor(known);
  }

  /**
   * Reads the workspace's credits now; callers that ask while a read is in progress share the one after it. Rejects
   * with AppError 503.
   */
  reread(tenantId: string): Promise<CreditAccount> {
    const reading = this.#reading.get(tenantId);
    if (reading === undefined) return this.#read(tenantId);
    const waiting = this.#next.get(tenantId);
    if (waiting !== undefined) return waiting;
    const again = () => {
      this.#next.delete(tenantId);
      return this.#read(tenantId);
    };
    const next = reading.then(again, again);
    this.#next.set(tenantId, next);
    return next;
  }

  #read(tenantId: string): Promise<CreditAccount> {
    const account = this.#accounts.get(tenantId) ?? new CreditAccount(tenantId);
    this.#accounts.set(tenantId, account);
    const source = this.#source;
    if (source === undefined) return Promise.resolve(account);
    const reading = this.#load(source, account).finally(() => {
      if (this.#reading.get(tenantId) === reading) this.#reading.delete(tenantId);
    });
    this.#reading.set(tenantId, reading);
    return reading;
  }

  /** A read that hangs blocks no caller once the term is over: the workspace belongs to the next leader. */
  #load(source: CreditSource, account: CreditAccount): Promise<CreditAccount> {
    const read = account.startRead();
    return new Promise((resolve, reject) => {
      const refuse = (error: unknown) => {
        this.#waiting.delete(refuse);
        reject(unavailable('unavailable', 'The credits of the workspace cannot be read at the moment.', 2, error));
      };
      this.#waiting.add(refuse);
      source.load(account.tenantId).then(found => {
        if (!this.#waiting.delete(refuse)) return;
        account.endRead(read, found, this.#host.now());
        this.#warn(account);
        resolve(account);
      }, refuse);
    });
  }

  /** Repeats the read until it succeeds, then calls `known`. */
  async rereadUntilKnown(account: CreditAccount, known: () => void): Promise<void> {
    try {
      await this.reread(account.tenantId);
    } catch (error) {
      this.#host.faults.creditsNotRead(account.tenantId, error);
      if (this.#over) return;
      this.#host.timers.set(this.#host.now() + RETRY_MS, () => void this.rereadUntilKnown(account, known));
      return;
    }
    if (!this.#over) known();
  }

  /** Records that the prices or the balance of a workspace have changed; ignores an unknown one. */
  changed(tenantId: string): void {
    const account = this.#accounts.get(tenantId);
    if (account !== undefined && !this.#over) void this.rereadUntilKnown(account, () => undefined);
  }

  /** Records that credits of the account were held or charged, so that it is read again soon. */
  use(account: CreditAccount): void {
    if (this.#source === undefined || this.#used.has(account)) return;
    this.#used.add(account);
    if (this.#armed || this.#over) return;
    this.#armed = true;
    this.#host.timers.set(this.#host.now() + REFRESH_MS, () => void this.#refresh());
  }

  /** A charge was committed. */
  charged(account: CreditAccount): void {
    this.#warn(account);
  }

  /** Forgets the accounts and allowances of these workspaces: another process charges them from now on. */
  forget(isOf: (tenantId: string) => boolean): void {
    for (const [tenantId, account] of this.#accounts) {
      if (!isOf(tenantId)) continue;
      this.#accounts.delete(tenantId);
      this.#used.delete(account);
      // A read in progress is of the account that is forgotten.
      this.#reading.delete(tenantId);
      this.#next.delete(tenantId);
    }
    this.spenders.forget(isOf);
  }

  /** Stops reading, and refuses all callers that wait for an answer. */
  abandon(cause: unknown): void {
    this.#over = true;
    for (const refuse of this.#waiting) refuse(cause);
  }

  async #refresh(): Promise<void> {
    this.#armed = false;
    const source = this.#source;
    if (this.#over || source === undefined) return;
    const used = this.#used;
    this.#used = new Set();
    const reads = [...used].map(account => ({ account, read: account.startRead() }));
    try {
      const found = await source.refresh(reads.map(({ account }) => account.tenantId));
      if (this.#over) return;
      for (const { account, read } of reads) {
        const credits = found.get(account.tenantId);
        if (credits === undefined) continue;
        account.endRead(read, credits, this.#host.now());
        this.#warn(account);
      }
    } catch (error) {
      this.#host.faults.creditsNotRead(`${used.size} workspaces`, error);
      if (!this.#over) for (const account of used) this.use(account);
    }
  }

  #warn(account: CreditAccount): void {
    const percent = this.#over ? null : account.takeWarning();
    if (percent !== null) this.#source?.thresholdCrossed(account.tenantId, percent);
  }

  #isFresh(account: CreditAccount): boolean {
    const age = this.#host.now() - account.readAt;
    return age >= 0 && age < STALE_MS;
  }
}
