import { shardOf } from '../../shards/slot.ts';

/** More workspaces than this are hashed again. */
const MAX_KNOWN = 10_000;

/** Whether a runtime executes the runs of a shard, or hands them over and begins nothing any more. */
type Holding = 'led' | 'leaving';

/** The shards whose runs a runtime executes: all, or of `count` those that it has taken. */
export class LedShards {
  readonly #count: number | null;
  readonly #held = new Map<number, Holding>();
  readonly #known = new Map<string, number>();

  /** `count`: null for a process that leads alone, which executes every run. */
  constructor(count: number | null) {
    this.#count = count;
  }

  take(shard: number): void {
    this.#held.set(shard, 'led');
  }

  leave(shard: number): void {
    this.#held.set(shard, 'leaving');
  }

  drop(shard: number): void {
    this.#held.delete(shard);
  }

  /** Returns whether this runtime executes the runs of the workspace, also while it hands them over. */
  executes(tenantId: string): boolean {
    return this.#count === null || this.#held.has(this.#shardOf(tenantId, this.#count));
  }

  /** Returns whether this runtime accepts commands for the runs of the workspace, and begins their steps. */
  accepts(tenantId: string): boolean {
    return this.#count === null || this.#held.get(this.#shardOf(tenantId, this.#count)) === 'led';
  }

  /** Returns the shards for which commands are accepted. */
  accepting(): number[] {
    return [...this.#held].flatMap(([shard, holding]) => (holding === 'led' ? [shard] : []));
  }

  /** Returns whether the workspace is in the shard; false for a run whose workspace is not known yet. */
  contains(shard: number, tenantId: string): boolean {
    return this.#count !== null && tenantId !== '' && this.#shardOf(tenantId, this.#count) === shard;
  }

  #shardOf(tenantId: string, count: number): number {
    const known = this.#known.get(tenantId);
    if (known !== undefined) return known;
    const shard = shardOf(tenantId, count);
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(tenantId, shard);
    return shard;
  }
}
