import type { z } from 'zod';
import { CREDIT } from '../../ports/microcredits.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';
import { failed } from '../failure.ts';
import { stricterLimits } from './named.ts';
import { type AgentLimits, DEFAULT_AGENT_LIMITS, MIN_BUDGET_CREDITS } from './settings.ts';

/** The maximum number of agents that can be nested by calls. */
export const MAX_AGENT_DEPTH = 3;

type Limits = z.output<typeof AgentLimits>;
type OfRun = Pick<Attempt, 'run' | 'lineage'>;

/** Returns the id of a step's agent. An agent that a step describes inline has the id of the step's workflow. */
export const agentIdOf = ({ run }: Pick<Attempt, 'run'>, named: string | undefined): string =>
  (named ?? run.workflowId).toLowerCase();

/** Returns the failure of an agent that may not begin below the agents that called its run; null if it may begin. */
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

/** Returns the limits of an agent, reduced to the rest of the limits of the agent that called its run. */
export function limitsOf({ lineage, prices }: Pick<Attempt, 'lineage' | 'prices'>, own: Limits = {}): Limits {
  const { limits } = lineage ?? {};
  if (limits === undefined) return own;
  const { budget, ...others } = limits;
  // A run is stopped above its budget, so the agent reserves its own steps to answer before that.
  const ownPrice = 2 * (prices?.workflow_step ?? 0);
  const credits =
    budget === undefined ? {} : { budget_credits: Math.max(MIN_BUDGET_CREDITS, (budget - ownPrice) / CREDIT) };
  return stricterLimits({ ...DEFAULT_AGENT_LIMITS, ...own }, { ...others, ...credits });
}
