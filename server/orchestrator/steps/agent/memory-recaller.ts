import type { Attempt } from '../../ports/step-type.ts';

/** The scopes of memories that an agent can get: of the person who asked, of the project, of the workspace. */
export const MEMORY_SCOPES = ['private', 'project', 'workspace'] as const;
export type MemoryScopeName = (typeof MEMORY_SCOPES)[number];
/** The items that an agent's memory tools may write: none, proposals, or also active items from words of the person. */
export const MEMORY_WRITES = ['off', 'propose', 'auto'] as const;
export type MemoryWrite = (typeof MEMORY_WRITES)[number];

/** The query of an agent before its first turn. */
export type RecallCall = {
  run: Attempt['run'];
  /** The step of the agent. */
  step: string;
  /** The agent that a step names, if it names one. */
  agentId?: string | undefined;
  read: readonly MemoryScopeName[];
  /** The question to the agent. */
  query: string;
};

/**
 * `source`: the subject, or where it was said; `date`: since when it is true, or when it was said. `outside`: it rests on text that no person
 * of the workspace wrote, though it may be trusted; absent: as `untrusted` says.
 */
export type RecalledMemory = {
  id: string;
  text: string;
  source: string;
  date: string;
  untrusted: boolean;
  outside?: boolean;
};
/** `pinned` does not depend on the query. `note` says why nothing was recalled. */
export type Recalled = { pinned: readonly RecalledMemory[]; found: readonly RecalledMemory[]; note?: string };

/** The port of agents to memory; the domain of memory implements it. */
export type MemoryRecaller = {
  /** Returns what the person for whom the run acts may see of what is asked, and notes that it was recalled. */
  recall(call: RecallCall, signal: AbortSignal): Promise<Recalled>;
};
