import type { Attempt } from '../../ports/step-type.ts';

/** The visibilities of memories that an agent can read: of the person who asked, the project or the workspace. */
export const MEMORY_SCOPES = ['private', 'project', 'workspace'] as const;
export type MemoryScopeName = (typeof MEMORY_SCOPES)[number];
/** The items that an agent's memory tools may write: none, proposals, or also active items from words of the person. */
export const MEMORY_WRITES = ['off', 'propose', 'auto'] as const;
export type MemoryWrite = (typeof MEMORY_WRITES)[number];

/** The request for memories before the first turn of an agent. */
export type RecallCall = {
  run: Attempt['run'];
  /** The step of the agent. */
  step: string;
  /** The agent that the step names, if any. */
  agentId?: string | undefined;
  read: readonly MemoryScopeName[];
  /** The question to the agent. */
  query: string;
};

/**
 * A memory for an agent. `source`: the subject of an item, or the source of a chunk. `date`: the start of an item's validity, or the time of
 * a chunk. `outside`: the memory rests on text from outside, even if it is trusted. Absent: `untrusted` tells.
 */
export type RecalledMemory = {
  id: string;
  text: string;
  source: string;
  date: string;
  untrusted: boolean;
  outside?: boolean;
};
/** The recalled memories. `pinned` does not depend on the query. `note`: the reason why no memory was recalled. */
export type Recalled = { pinned: readonly RecalledMemory[]; found: readonly RecalledMemory[]; note?: string };

/** The port of agents to memory; the domain of memory implements it. */
export type MemoryRecaller = {
  /** Returns matching memories that the user of the run may see, and records the recall. */
  recall(call: RecallCall, signal: AbortSignal): Promise<Recalled>;
};
