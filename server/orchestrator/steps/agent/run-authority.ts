import type { Role } from '../../ports/authority.ts';
import type { Attempt } from '../../ports/step-type.ts';

/**
 * The current rights of the user for whom a run acts. `lost`: the user, the token or the role in the project is gone.
 * `scopes`: the scopes of the token, or all scopes for a session.
 */
export type Standing =
  | {
      kind: 'held';
      userId: string;
      email: string;
      role: Role;
      scopes: readonly string[];
      /** The token that started the run; null or absent for a session. */
      patId?: string | null;
    }
  | { kind: 'lost'; code: 'authority_lost'; message: string };

/** The facts about an agent's call that its rights depend on. */
export type AgentCall = {
  /** Whether the tool only reads (`readOnlyHint` of the published version). */
  readOnly: boolean;
  /** A scope that the token must carry, such as `mcp:execute`. */
  scope: string;
  /** Whether a contributor has approved this call. */
  approved: boolean;
};

/** The decision on a call. `ask`: a contributor has to approve it first. */
export type CallDecision =
  | { kind: 'allowed' }
  | { kind: 'ask'; message: string }
  | { kind: 'refused'; code: 'authority_lost'; message: string };

/**
 * The port of agents to the rights of the user for whom a run acts; the domain of agents implements it. A step reads them when it plans
 * its tools, and again before each call, because rights may end during a run.
 */
export type RunAuthority = {
  /**
   * Returns the rights, which are at most 2 s old. Waits while the database is unavailable, until `signal` aborts. A called run acts for the
   * user of the outermost run.
   */
  standing(run: Attempt['run'], signal: AbortSignal): Promise<Standing>;
  /** Returns whether a person may approve calls in the project of the run now. Reads the database each time, and waits like `standing`. Absent in
   * tests without rights. */
  mayApprove?(run: Attempt['run'], email: string, signal: AbortSignal): Promise<boolean>;
};

/** Decides on a call by the current rights. For a viewer, calls that do more than read need the approval of a contributor. */
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
