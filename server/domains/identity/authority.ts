import type { Principal } from '../../operation/context.ts';
import { type Scope, scopes } from '../../orchestrator/ports/authority.ts';
import { forbidden } from '../../platform/errors.ts';

/** The scopes a credential carries; a session carries every one (docs/specification/authentication.md#scopes). */
export function carriedScopes({ credential }: Principal): readonly Scope[] {
  return credential.kind === 'session' ? scopes : credential.scopes;
}

/** Returns the person and the token for whom the agents of a run act, if the principal starts the run. */
export const actorOf = ({ userId, credential }: Principal): { user_id: string; pat_id: string | null } => ({
  user_id: userId,
  pat_id: credential.kind === 'pat' ? credential.patId : null,
});

/** Throws AppError 403 unless the credential carries all of `needed`: a token must not obtain a stronger one. */
export function requireScopes(principal: Principal, needed: readonly Scope[]): void {
  const carried = carriedScopes(principal);
  const missing = needed.filter(scope => !carried.includes(scope));
  if (missing.length === 0) return;
  throw forbidden(`The token that makes the request does not have: ${missing.join(', ')}.`, 'insufficient_scope');
}

/**
 * Throws AppError 403 unless the credential carries every scope. An account that was created or taken over has every
 * scope: a narrow token that could invite, promote or set a password would be as good as a full one.
 */
export function requireEveryScope(principal: Principal): void {
  requireScopes(principal, scopes);
}
