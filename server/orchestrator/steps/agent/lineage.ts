import type { z } from 'zod';
import { CREDIT } from '../../ports/microcredits.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';
import { failed } from '../failure.ts';
import { stricterLimits } from './named.ts';
import { type AgentLimits, DEFAULT_AGENT_LIMITS, MIN_BUDGET_CREDITS } from './settings.ts';

/** Agents that may work one beneath the other: an agent, one that it calls, and one that that calls. */
export const MAX_AGENT_DEPTH = 3;

type Limits = z.output<typeof AgentLimits>;
type OfRun = Pick<Attempt, 'run' | 'lineage'>;

/** The agent of a step by the id of its workflow; for one that a step describes, that of the workflow it is in. */
export const agentIdOf = ({ run }: Pick<Attempt, 'run'>, named: string | undefined): string =>
  (named ?? run.workflowId).toLowerCase();

/** Returns how an agent fails that may not begin beneath the agents that have called its run; null if it may. */
export function mayNotBegin(attempt: OfRun, named: string | undefined): Outcome | null {
  const above = attempt.lineage?.agents ?? [];
  if (above.includes(agentIdOf(attempt, named))) return CALLS_ITSELF;
  return above.length >= MAX_AGENT_DEPTH ? TOO_DEEP : null;
}

/** Returns why an agent may not call a workflow, or another agent, as a tool; null if it may. */
export function mayNotCall(
  attempt: OfRun,
  named: string | undefined,
  target: { workflowId: string; isAgent: boolean },
): Outcome | null {
  const agents = [...(attempt.lineage?.agents ?? []), agentIdOf(attempt, named)];
  if (agents.includes(target.workflowId.toLowerCase())) return CALLS_ITSELF;
  return target.isAgent && agents.length >= MAX_AGENT_DEPTH ? TOO_DEEP : null;
}

const CALLS_ITSELF = failed('agent_calls_itself', 'The call leads back to an agent that is waiting for it.');
const TOO_DEEP = failed(
  'agents_too_deep',
  `At most ${MAX_AGENT_DEPTH} agents work one beneath the other: this one can call no further one.`,
);

/** Returns the limits of an agent: its own, and no more than the agent that called its run has left. */
export function limitsOf({ lineage, prices }: Pick<Attempt, 'lineage' | 'prices'>, own: Limits = {}): Limits {
  const { limits } = lineage ?? {};
  if (limits === undefined) return own;
  const { budget, ...others } = limits;
  // The run is stopped once it has charged more than its budget: the agent answers before.
  const ownPrice = 2 * (prices?.workflow_step ?? 0);
  const credits =
    budget === undefined ? {} : { budget_credits: Math.max(MIN_BUDGET_CREDITS, (budget - ownPrice) / CREDIT) };
  return stricterLimits({ ...DEFAULT_AGENT_LIMITS, ...own }, { ...others, ...credits });
}
