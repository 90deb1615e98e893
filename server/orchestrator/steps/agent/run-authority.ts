import type { Role } from '../../ports/authority.ts';
import type { Attempt } from '../../ports/step-type.ts';

/**
 * The rights that the person who asked for a run has at this moment. `lost`: the user, the token or the role on the
 * project is gone. `scopes`: those of the token, or all of them where a session asked.
 */
export type Standing =
  | {
      kind: 'held';
      userId: string;
      email: string;
      role: Role;
      scopes: readonly string[];
      /** The token that asked; null or absent: a session. */
      patId?: string | null;
    }
  | { kind: 'lost'; code: 'authority_lost'; message: string };

/** The effect of an agent's call, as far as rights are concerned. */
export type AgentCall = {
  /** Its tool only reads (`readOnlyHint` of the published version). */
  readOnly: boolean;
  /** A scope that the token must carry, such as `mcp:execute`. */
  scope: string;
  /** A contributor has approved this very call. */
  approved: boolean;
};

/** Whether a call may be made now. `ask`: a contributor has to approve it first. */
export type CallDecision =
  | { kind: 'allowed' }
  | { kind: 'ask'; message: string }
  | { kind: 'refused'; code: 'authority_lost'; message: string };

/**
 * The port of agents to the rights of the person for whom a run acts; the domain of agents implements it. A step asks once when it
 * plans its tools, and again before each call: rights may end in the middle of a run.
 */
export type RunAuthority = {
  /**
   * Returns the present rights, which are at most 2 s old. Waits while the database is away, until `signal` aborts. A run that a step
   * called acts for the person who asked for the outermost run.
   */
  standing(run: Attempt['run'], signal: AbortSignal): Promise<Standing>;
  /** Whether a person may approve calls in the project of the run at this moment. Read each time, and waits as `standing` does. Absent where
   * nobody keeps rights. */
  mayApprove?(run: Attempt['run'], email: string, signal: AbortSignal): Promise<boolean>;
};

/** Decides one call by the present rights: a viewer's agent only reads, and every other call of it needs a contributor's approval. */
export function decideCall(standing: Standing, { readOnly, scope, approved }: AgentCall): CallDecision {
  if (standing.kind === 'lost') return { kind: 'refused', code: standing.code, message: standing.message };
  if (!standing.scopes.includes(scope)) {
    return {
      kind: 'refused',
      code: 'authority_lost',
      message: `The token of ${standing.email} does not have the scope ${scope}.`,
    };
  }
  if (readOnly || approved || standing.role !== 'project_viewer') return { kind: 'allowed' };
  return {
    kind: 'ask',
    message: `${standing.email} may only read in this project: a contributor has to approve the call.`,
  };
}
