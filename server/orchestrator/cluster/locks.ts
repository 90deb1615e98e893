/** Arbitrary; advisory locks belong to one database, so every Baton uses the same. Next to the migrations' 4216033. */
export const LEADER_LOCK = 4_216_034;

/**
 * The key of the advisory lock that the sessions of a process share for as long as it lives: the last 64 bits of its id,
 * which are random. PostgreSQL frees it with the session, whatever becomes of the process.
 */
export function processLock(processId: string): bigint {
  return BigInt.asIntN(64, BigInt(`0x${processId.replaceAll('-', '').slice(16)}`));
}

/** An advisory lock that a session holds: `key` is its 64 bits, or `shard` the shard whose lock it is. */
export type HeldLock = {
  pid: number;
  key: bigint | null;
  shard: number | null;
  exclusive: boolean;
  quietMs: number | null;
};
