import type { JsonMap } from '../../core/index.ts';
import type { Attempt, CheckScope, StepProblem } from '../../ports/step-type.ts';

/** The latest version of an agent. `settings` has the fields of an inline `agent` step. */
export type AgentSnapshot = { agentId: string; version: number; settings: JsonMap };

export type AgentAnswer = ({ kind: 'agent' } & AgentSnapshot) | { kind: 'failed'; code: string; message: string };

/** The port of a step that names an agent; the domain of agents implements it. It finds agents only in the project of the run. */
export type AgentSource = {
  /** Returns the problems of a step that names this agent. */
  check(scope: CheckScope, agentId: string): Promise<StepProblem[]>;
  /**
   * Returns the agent's latest version. Fails with `agent_not_found` and `agent_archived`. Waits while the database is away, until
   * `signal` aborts.
   */
  resolve(run: Attempt['run'], agentId: string, signal: AbortSignal): Promise<AgentAnswer>;
};
