import type { z } from 'zod';
import { isObject } from '../../../platform/json.ts';
import type { AgentProgress, JsonValue } from '../../core/index.ts';
import { inline } from '../quoted.ts';
import { ASK_USER } from './ask-user.ts';
import type { EarlierMessages } from './conversations.ts';
import type { Recalled } from './memory-recaller.ts';
import { MEMORY } from './memory-tools.ts';
import type { AgentWork, PrivatePlace as PlaceSchema, PlannedTool } from './plan.ts';
import { PLATFORM } from './platform-tools.ts';
import { READ_RESULT } from './read-result.ts';
import type { TranscriptSource } from './transcript.ts';
import { callsOf, turnResultOf } from './turn-result.ts';

/**
 * A place of private data, which the workspace knows and a stranger does not (docs/adr/0032): memories, results of steps, operations, runs and
 * closed-world tools, and results of a server with credentials. `instance_id`: the only instance that already has the data; absent for none.
 */
export type PrivatePlace = z.infer<typeof PlaceSchema>;

const EARLIER = 'in an earlier answer of this conversation';
/** Tools whose results are not private, or count already: answers of a person, and parts of earlier results. */
const NOT_PRIVATE: ReadonlySet<string> = new Set([READ_RESULT, ASK_USER]);

/** Returns the places of private data in an agent's conversation, as words that continue "private data". */
export function privateIn(work: AgentWork, { turns }: AgentProgress, source: TranscriptSource): PrivatePlace[] {
  const places = [...(work.private ?? [])];
  const tools = new Map(work.tools.map(tool => [tool.name, tool]));
  for (const turn of turns) {
    const result = turnResultOf(source.result(turn.id));
    for (const [index, { name }] of (result === null ? [] : callsOf(result)).entries()) {
      const call = turn.calls.get(index + 1);
      // The error of a server is as private as its results.
      if (call?.status !== 'completed' && call?.status !== 'failed') continue;
      const tool = tools.get(name);
      if (tool?.instance_id === MEMORY && !hasMemories(call.status === 'completed' ? source.result(call.id) : null))
        continue;
      places.push(...placeOf(name, tool, `by the tool ${inline(name)}`));
    }
  }
  return places;
}

/** Returns the first place of private data that the tool's server does not have; null for none. */
export const firstUnknownTo = (places: readonly PrivatePlace[], { instance_id }: PlannedTool): string | null =>
  places.find(({ instance_id: known }) => known?.toLowerCase() !== instance_id.toLowerCase())?.place ?? null;

/** Returns the place for recalled memories of any visibility; empty for none. */
export const privateOfMemories = ({ pinned, found }: Recalled): PrivatePlace[] =>
  pinned.length + found.length === 0 ? [] : [{ place: 'in a recalled memory' }];

/** Returns the places in earlier answers of the conversation, which may quote private data. */
export function privateOfEarlier(tools: readonly PlannedTool[], earlier: EarlierMessages): PrivatePlace[] {
  const known = new Map(tools.map(tool => [tool.name, tool]));
  return [
    ...(earlier.isPrivate ? [{ place: EARLIER }] : []),
    ...earlier.tools.flatMap(name => placeOf(name, known.get(name), EARLIER)),
  ];
}

/** Returns the place for a result of a tool; none for public data. The result of a tool that the agent no longer has counts as private. */
function placeOf(name: string, tool: PlannedTool | undefined, place: string): PrivatePlace[] {
  if (NOT_PRIVATE.has(name)) return [];
  if (tool === undefined || !isMcp(tool) || !tool.open_world) return [{ place }];
  return tool.credentials === true ? [{ place, instance_id: tool.instance_id }] : [];
}

/** Returns whether the tool belongs to an MCP instance. All other tools belong to the workspace. */
const isMcp = ({ instance_id, run }: PlannedTool): boolean =>
  run === undefined && instance_id !== MEMORY && instance_id !== PLATFORM;

/** Returns whether a search of memories has found any. */
function hasMemories(result: JsonValue): boolean {
  if (!isObject(result)) return false;
  return !Array.isArray(result.memories) || result.memories.length > 0;
}
