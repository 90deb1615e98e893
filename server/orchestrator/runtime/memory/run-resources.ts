import { DEFAULT_LIMITS } from '../../log/index.ts';
import type { Message } from '../runs/mailbox.ts';
import { PacedTurns } from '../runs/paced-turns.ts';
import type { RuntimeServices } from '../runtime-services.ts';
import { LiveMemory } from './live-memory.ts';
import type { MemoryLimits } from './memory-limits.ts';
import { StoredResults } from './stored-results.ts';
import { UncommittedResults } from './uncommitted-results.ts';

type Services = Pick<RuntimeServices, 'config' | 'reader' | 'writerLimits' | 'clock' | 'alarm' | 'defer'>;

/**
 * The resources that the runs of a process share and must not exhaust: memory, the size of commits, and the event loop.
 */
export class RunResources {
  readonly limits: MemoryLimits;
  readonly memory: LiveMemory;
  readonly storedResults: StoredResults;
  readonly uncommittedResults: UncommittedResults;
  /** The maximum size of one entry of the log, in bytes. */
  readonly entryBytes: number;
  /** Turns for work that takes milliseconds. */
  readonly turns: PacedTurns;

  /** `isShared` tells whether more than one tenant is present. */
  constructor(services: Services, isShared: () => boolean) {
    const { config, reader, writerLimits = DEFAULT_LIMITS } = services;
    this.limits = config.memory;
    this.memory = new LiveMemory(this.limits);
    this.storedResults = new StoredResults(reader.readStored, this.limits);
    this.uncommittedResults = new UncommittedResults(this.limits.uncommittedResultBytes);
    this.entryBytes = writerLimits.batchBytes;
    this.turns = new PacedTurns(services, isShared);
  }

  /** Releases the bytes of results that no longer wait for a commit. */
  releaseResults(tenantId: string, messages: readonly Message[]): void {
    let bytes = 0;
    for (const { large } of messages) bytes += large?.json.length ?? 0;
    if (bytes > 0) this.uncommittedResults.remove(tenantId, bytes);
  }

  /** Releases the bytes of results once their turn is written. Turns without large results skip the promise. */
  releaseResultsAfter(written: Promise<void>, tenantId: string, messages: readonly Message[]): void {
    if (messages.some(({ large }) => large !== null))
      void written.finally(() => this.releaseResults(tenantId, messages));
  }

  /** Settles in a turn of the event loop that no other caller shares. */
  ownTurn(): Promise<void> {
    return new Promise(resolve => this.turns.next(resolve));
  }
}

/** The bytes that are counted for one run while it is in memory. */
export class ResidentBytes {
  readonly #memory: LiveMemory;
  readonly #tenantId: string;
  #bytes = 0;

  constructor(memory: LiveMemory, tenantId: string) {
    this.#memory = memory;
    this.#tenantId = tenantId;
  }

  set(bytes: number): void {
    if (bytes === this.#bytes) return;
    this.#memory.add(this.#tenantId, bytes - this.#bytes);
    this.#bytes = bytes;
  }
}
