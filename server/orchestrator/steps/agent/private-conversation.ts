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
 * Private data is what the workspace knows and a stranger does not (docs/adr/0032): memories, results of earlier steps, of operations, of
 * runs and of tools that stay in their own domain, and what a server has returned to credentials. `instance_id`: the only instance that
 * knows it already; absent: none does.
 */
export type PrivatePlace = z.infer<typeof PlaceSchema>;

const EARLIER = 'in an earlier answer of this conversation';
/** Tools that return the words of a person, and parts of results that were counted when they were read. */
const NOT_PRIVATE: ReadonlySet<string> = new Set([READ_RESULT, ASK_USER]);

/** Returns where the conversation of an agent has private data, each in the words after "private data". */
export function privateIn(work: AgentWork, { turns }: AgentProgress, source: TranscriptSource): PrivatePlace[] {
  const places = [...(work.private ?? [])];
  const tools = new Map(work.tools.map(tool => [tool.name, tool]));
  for (const turn of turns) {
    const result = turnResultOf(source.result(turn.id));
    for (const [index, { name }] of (result === null ? [] : callsOf(result)).entries()) {
      const call = turn.calls.get(index + 1);
      // What a server says of a failure is private as its results are.
      if (call?.status !== 'completed' && call?.status !== 'failed') continue;
      const tool = tools.get(name);
      if (tool?.instance_id === MEMORY && !hasMemories(call.status === 'completed' ? source.result(call.id) : null))
        continue;
      places.push(...placeOf(name, tool, `by the tool ${inline(name)}`));
    }
  }
  return places;
}

/** Returns the first place with private data that the server of a tool does not know; null for none. */
export const firstUnknownTo = (places: readonly PrivatePlace[], { instance_id }: PlannedTool): string | null =>
  places.find(({ instance_id: known }) => known?.toLowerCase() !== instance_id.toLowerCase())?.place ?? null;

/** Returns the places in recalled memories, whoever may see these. */
export const privateOfMemories = ({ pinned, found }: Recalled): PrivatePlace[] =>
  pinned.length + found.length === 0 ? [] : [{ place: 'in a recalled memory' }];

/** Returns the places in earlier answers of the same conversation, which may quote what they have read. */
export function privateOfEarlier(tools: readonly PlannedTool[], earlier: EarlierMessages): PrivatePlace[] {
  const known = new Map(tools.map(tool => [tool.name, tool]));
  return [
    ...(earlier.isPrivate ? [{ place: EARLIER }] : []),
    ...earlier.tools.flatMap(name => placeOf(name, known.get(name), EARLIER)),
  ];
}

/** The place of what a tool has returned; none for what anybody can read. A tool that the agent has no more may have returned anything. */
function placeOf(name: string, tool: PlannedTool | undefined, place: string): PrivatePlace[] {
  if (NOT_PRIVATE.has(name)) return [];
  if (tool === undefined || !isMcp(tool) || !tool.open_world) return [{ place }];
  return tool.credentials === true ? [{ place, instance_id: tool.instance_id }] : [];
}

/** Everything else that agents call belongs to the workspace. */
const isMcp = ({ instance_id, run }: PlannedTool): boolean =>
  run === undefined && instance_id !== MEMORY && instance_id !== PLATFORM;

/** A search of memories that has found none has read nothing. */
function hasMemories(result: JsonValue): boolean {
  if (!isObject(result)) return false;
  return !Array.isArray(result.memories) || result.memories.length > 0;
}
