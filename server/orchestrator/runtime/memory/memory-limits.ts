/** Limits of what the orchestrator holds in memory, in bytes. Set in server/orchestrator/ports/settings.ts. */
export type MemoryLimits = {
  /** Results and input of one run, stored ones included. */
  readonly runBytes: number;
  /** States of the runs in memory: of all tenants, and of one. */
  readonly liveBytes: number;
  readonly liveBytesPerTenant: number;
  /** Results of one tenant's scripts, from their start until their commit. */
  readonly uncommittedResultBytes: number;
  /** Stored results that attempts hold at a time. */
  readonly loadingBytes: number;
  /** Stored results that are kept for the steps that follow. */
  readonly cacheBytes: number;
};
