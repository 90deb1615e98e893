import { createHash } from 'node:crypto';

/** Slots are the first two bytes of a hash, so that any power of two of shards up to this number divides them evenly. */
export const SLOTS = 65_536;

/**
 * Returns the slot of a workspace, for ever: the first two bytes of the SHA-256 of its id. The SQL function `baton_slot`
 * returns the same.
 */
export function slotOf(tenantId: string): number {
  return createHash('sha256').update(tenantId, 'utf8').digest().readUInt16BE(0);
}

/** Returns the shard of a workspace among this many. */
export const shardOf = (tenantId: string, shards: number): number => slotOf(tenantId) % shards;

/** Shards of a deployment: `all` of them, which costs nothing to select, or those in `led`, of `count`. */
export type Shards = 'all' | { readonly count: number; readonly led: ReadonlySet<number> };

/** Every workspace, as one process that leads alone leads them. */
export const ALL_SHARDS: Shards = 'all';

/** Returns whether the workspace is in one of the shards. */
export const isAmong = (shards: Shards, tenantId: string): boolean =>
  shards === 'all' || shards.led.has(shardOf(tenantId, shards.count));

/**
 * Returns SQL for "and the workspace in this column is in one of the shards", with its parameters, which follow `before`
 * others; empty for `all`. A deployment has few workspaces and many runs, so the workspaces are hashed, and not the runs.
 */
export function amongShards(column: string, shards: Shards, before: number): { sql: string; values: unknown[] } {
  if (shards === 'all') return { sql: '', values: [] };
  const [count, led] = [`$${before + 1}::int`, `$${before + 2}::int[]`];
  return {
    sql: ` AND ${column} IN (SELECT slug FROM tenants WHERE baton_slot(slug) % ${count} = ANY(${led}))`,
    values: [shards.count, [...shards.led]],
  };
}
