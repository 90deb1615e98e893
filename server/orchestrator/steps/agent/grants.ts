import { isObject } from '../../../platform/json.ts';
import type { JsonMap, JsonValue } from '../../core/index.ts';
import type { Attempt } from '../../ports/step-type.ts';
import type { PlannedTool } from './plan.ts';
import { digestOf } from './turn-result.ts';

/**
 * A permission by a person for calls of a tool with these arguments (null: any), as long as its description is the same.
 */
export type AgentGrant = {
  id: string;
  instanceId: string;
  tool: string;
  toolDigest: string;
  arguments: JsonMap | null;
};

/** The port through which agents read grants; the domain of agents implements it. */
export type AgentGrants = {
  /**
   * Returns the grants in force for the agent and for the conversation of the run. `agentId`: the agent that a step names; undefined in the
   * agent's own runs. Waits while the database is unavailable, until `signal` aborts.
   */
  of(run: Attempt['run'], agentId: string | undefined, signal: AbortSignal): Promise<readonly AgentGrant[]>;
};

/** Returns the digest to which a grant is bound. A tool with another description has another digest. */
export function toolDigest({ description, input_schema, read_only, open_world, destructive }: PlannedTool): string {
  return digestOf({ description, input_schema, read_only, open_world, destructive: destructive === true } as JsonMap);
}

/** Returns the grant that allows a call; undefined for none. */
export function grantFor(
  grants: readonly AgentGrant[],
  tool: PlannedTool,
  args: JsonValue | undefined,
): AgentGrant | undefined {
  const digest = toolDigest(tool);
  return grants.find(
    grant =>
      grant.instanceId === tool.instance_id.toLowerCase() &&
      grant.tool === tool.tool &&
      grant.toolDigest === digest &&
      hasArguments(args, grant.arguments),
  );
}

function hasArguments(args: JsonValue | undefined, wanted: JsonMap | null): boolean {
  if (wanted === null) return true;
  if (!isObject(args)) return false;
  return Object.entries(wanted).every(([name, value]) => {
    const given = Object.hasOwn(args, name) ? args[name] : undefined;
    return given !== undefined && digestOf(given as JsonValue) === digestOf(value);
  });
}
