import type { AgentStepFacts, RunState } from '@/server/domains/runs/run-state.ts';
import { addedId } from '@/server/orchestrator/core/step-ids.ts';
import type { GraphStepInput } from '../graph/layout.ts';

/** A turn, a call or an approval, in the shape of a step of the graph. */
export type AgentStep = {
  id: string;
  type: string;
  name: string;
  /** The agent itself for what it began with. */
  depends_on: readonly string[];
  /** 1 for a turn; 2 for what a turn has led to. */
  depth: 1 | 2;
};
export type AgentSteps = ReadonlyMap<string, readonly AgentStep[]>;

/** Returns what each agent of the graph has added to the run, by the agent's id and in the order in which it was added. */
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
 * Returns the steps of a graph with what its agents have added, each after its agent. What comes after an agent comes after the last of
 * its steps. The steps lose the places that people gave them: the added ones have none.
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

/** Without the edges that another path says: a turn waits for its calls, and they for the turn before. */
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
