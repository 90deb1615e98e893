import type { AgentStepFacts, RunState } from '@/server/domains/runs/reading/run-state.ts';
import { addedId } from '@/server/orchestrator/core/step-ids.ts';
import type { GraphStepInput } from '../graph/layout.ts';

/** A turn, a call or an approval, in the shape of a step of the graph. */
export type AgentStep = {
  id: string;
  type: string;
  name: string;
  /** The agent itself for the steps that it added first. */
  depends_on: readonly string[];
  /** 1 for a turn; 2 for a call or an approval of the turn. */
  depth: 1 | 2;
};
export type AgentSteps = ReadonlyMap<string, readonly AgentStep[]>;

/** Returns the steps that each agent of the graph has added to the run, by the agent's id, in the order of their addition. */
export function agentStepsOf(state: RunState): AgentSteps {
  const found = new Map<string, AgentStep[]>();
  for (const { id, ofAgent } of state.steps.values()) {
    const added = ofAgent === null ? null : addedId(id);
    if (ofAgent === null || added === null) continue;
    const steps = found.get(added.parent) ?? [];
    if (steps.length === 0) found.set(added.parent, steps);
    steps.push({
      id,
      type: ofAgent.type,
      name: nameOf(ofAgent, added.index, id),
      depends_on: ofAgent.dependsOn.length > 0 ? ofAgent.dependsOn : [added.parent],
      depth: ofAgent.tool === null ? 1 : 2,
    });
  }
  return found;
}

function nameOf({ type, tool, closing }: AgentStepFacts, number: number, id: string): string {
  switch (type) {
    case 'agent_turn':
      return closing === null ? `Turn ${number}` : `Turn ${number} (closing)`;
    case 'agent_tool':
      return tool ?? id;
    case 'agent_approval':
      return `Approval of ${tool ?? id}`;
    case 'agent_compaction':
      return `Summary ${number}`;
    default:
      return id;
  }
}

/**
 * Returns the steps of a graph with the steps that its agents have added, each after its agent. Dependents of an agent then depend on
 * the last added step. Positions that people chose are removed, because the added steps have none.
 */
export function withAgentSteps(steps: readonly GraphStepInput[], added: AgentSteps): GraphStepInput[] {
  const leaves = new Map([...added].map(([agent, inner]) => [agent, leavesOf(inner)]));
  const direct = new Map([...added].map(([agent, inner]) => [agent, withDirectEdges(inner)]));
  return steps.flatMap(step => {
    const depends_on = Array.isArray(step.depends_on)
      ? step.depends_on.flatMap(id => (typeof id === 'string' ? (leaves.get(id) ?? [id]) : []))
      : [];
    const { position: _position, ...drawn } = step;
    return [{ ...drawn, depends_on }, ...(direct.get(step.id) ?? [])];
  });
}

/** Removes redundant edges. A turn depends on its calls, so its edge to the turn before the calls is implied. */
function withDirectEdges(steps: readonly AgentStep[]): AgentStep[] {
  const before = new Map(steps.map(({ id, depends_on }) => [id, depends_on]));
  return steps.map(step => ({
    ...step,
    depends_on: step.depends_on.filter(id => !step.depends_on.some(other => before.get(other)?.includes(id))),
  }));
}

function leavesOf(steps: readonly AgentStep[]): string[] {
  const continued = new Set(steps.flatMap(({ depends_on }) => depends_on));
  return steps.flatMap(({ id }) => (continued.has(id) ? [] : [id]));
}
