/**
 * The approximate bytes that each cache of the orchestrator may take; everything in them can be recomputed. A tenant
 * chooses the size of its scripts and graphs, so a number of entries would bound nothing.
 */
export const CACHE_LIMITS = {
  /** Compiled graphs: one of 10 steps takes ~10 KiB, one of 2,000 steps ~2 MiB. */
  graphs: 64 * 1024 * 1024,
  /** Prepared Lua scripts, twice as large as their text. */
  scripts: 32 * 1024 * 1024,
  /** The same for those of steps in loops, which have separate templates. */
  scriptsInLoops: 16 * 1024 * 1024,
  /** Parsed templates. */
  templates: 16 * 1024 * 1024,
  /** Compiled CEL expressions: closures take some 200 bytes for each character. */
  expressions: 16 * 1024 * 1024,
  /** Compiled regular expressions of conditions and forms. */
  patterns: 16 * 1024 * 1024,
} as const;
