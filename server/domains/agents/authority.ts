import type { Services } from '../../operation/services.ts';
import { scopes } from '../../orchestrator/ports/authority.ts';
import type { Attempt } from '../../orchestrator/ports/step-type.ts';
import type { RunAuthority, Standing } from '../../orchestrator/steps/agent/run-authority.ts';
import { setBounded } from '../../platform/bounded-map.ts';
import { whileDatabaseAway } from '../../platform/postgres/while-away.ts';
import { findAnswerers } from '../identity/answerer-queries.ts';
import { effectiveRole } from '../identity/principal.ts';
import { type ActsFor, findActsFor, findRights } from './authority-queries.ts';

/** The maximum time for which a run keeps a right that its user has lost. */
export const STANDING_TTL_MS = 2_000;
const CAPACITY = 10_000;

type Run = Attempt['run'];
type Read = { standing: Standing; until: number; expiresAt: number | null };

/** Creates the port that reads the rights of the users for whom runs act. */
export function createRunAuthority({ pool, clock }: Pick<Services, 'pool' | 'clock'>): RunAuthority {
  // The user for whom a run acts never changes, so these entries do not expire.
  const actors = new Map<string, ActsFor | null>();
  const known = new Map<string, Read>();
  async function actorOf({ id: runId, tenantId, projectId }: Run): Promise<ActsFor | null> {
    const present = actors.get(runId);
    if (present !== undefined) return present;
    const found = await findActsFor(pool, { runId, tenantId, projectId });
    setBounded(actors, runId, found, CAPACITY);
    return found;
  }
  async function standing(run: Run): Promise<Standing> {
    const actor = await actorOf(run);
    if (actor === null) return authorityLost('There is no person for whom the run acts.');
    const now = clock.now();
    const key = `${run.tenantId} ${run.projectId} ${actor.user_id} ${actor.pat_id}`;
    const present = known.get(key);
    if (present !== undefined && now < present.until && now >= present.until - STANDING_TTL_MS)
      return valid(present, now);
    const read = { ...(await readRights({ pool }, run, actor)), until: now + STANDING_TTL_MS };
    setBounded(known, key, read, CAPACITY);
    return valid(read, now);
  }
  return {
    standing: (run, signal) => whileDatabaseAway(signal, () => standing(run)),
    mayApprove: (run, email, signal) =>
      whileDatabaseAway(signal, async () => (await findAnswerers(pool, run, [email])).length > 0),
  };
}

const authorityLost = (message: string): Standing => ({ kind: 'lost', code: 'authority_lost', message });

const valid = ({ standing, expiresAt }: Read, now: number): Standing =>
  expiresAt !== null && expiresAt <= now ? authorityLost('The token that asked for the run has expired.') : standing;

async function readRights(
  { pool }: Pick<Services, 'pool'>,
  { tenantId, projectId }: Run,
  actor: ActsFor,
): Promise<Omit<Read, 'until'>> {
  const row = await findRights(pool, { tenantId, projectId }, actor);
  const never = { expiresAt: null };
  if (row === null)
    return { standing: authorityLost('The person who asked for the run has left the workspace.'), ...never };
  const role = effectiveRole(row.tenant_admin, row.role);
  if (role === null) return { standing: authorityLost(`${row.email} has no role in this project any more.`), ...never };
  if (actor.pat_id !== null && row.scopes === null)
    return { standing: authorityLost(`The token of ${row.email} that asked for the run was revoked.`), ...never };
  const carriedScopes = row.scopes ?? scopes;
  const { user_id: userId, pat_id: patId } = actor;
  const standing: Standing = { kind: 'held', userId, email: row.email, role, scopes: carriedScopes, patId };
  return { standing, expiresAt: row.expires_at?.getTime() ?? null };
}
