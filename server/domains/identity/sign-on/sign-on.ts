import { buildEndSessionUrl } from 'openid-client';
import type { Services } from '../../../operation/services.ts';
import type { SignOnSettings } from '../../../operation/sign-on-settings.ts';
import { HOUR_MS } from '../../../platform/clock.ts';
import { deriveKey, randomToken, sha256 } from '../../../platform/crypto/digest.ts';
import { open, seal } from '../../../platform/crypto/envelope.ts';
import { hostOf } from '../../../platform/egress/addresses.ts';
import { createEgress, type Egress } from '../../../platform/egress/egress.ts';
import { readMemberships } from '../member-store.ts';
import type { Session } from '../sessions.ts';
import { limitAttemptsFrom, type SignedIn } from '../sign-in.ts';
import { admitPerson } from './account.ts';
import { beginSignOn, clientOf, finishSignOn } from './flow.ts';
import type { Parts, RecordSignOn } from './parts.ts';
import { keepRefreshToken, recheckPeople } from './recheck.ts';
import { type SignOnReason, SignOnRefused } from './refusal.ts';
import { findIdentity, saveSignOnSession, takeSignOnSession } from './store.ts';

/** A session of a sign-in through the issuer. It ends at `until`, however often it is renewed. */
export type SignedOn = SignedIn & { sessionId: string; until: number; next: string };
export type SignOnOutcome<T> = T | { refused: SignOnReason | 'rate_limited' };

/** Signing in and out at the issuer (docs/sign-on.md), for the routes of the console. */
export type SignOn = {
  begin(next: string): Promise<SignOnOutcome<{ url: string; cookie: string }>>;
  finish(answer: {
    cookie: string | undefined;
    params: URLSearchParams;
    address: string;
  }): Promise<SignOnOutcome<SignedOn>>;
  /** Returns where the session at the issuer ends, after that of the console; null if there is nothing to end there. */
  end(session: Session, address: string | null): Promise<string | null>;
  /** Asks the issuer about the people of whom it was not asked for five minutes; ends the access of those whom it refuses. */
  recheck(closing: AbortSignal): Promise<void>;
  close(): Promise<void>;
};

export const CALLBACK_PATH = '/api/auth/oidc/callback';
/** The issuer is asked again this often whether the person may sign in, because then the person has to. */
const SESSION_MS = 12 * HOUR_MS;
const ID_TOKEN_PLACE = ['sign-on', 'id-token'];

/** Returns null without an issuer. */
export function createSignOn(services: Services, masterKey: Uint8Array, record: RecordSignOn): SignOn | null {
  const { signOn: settings } = services.config.identity;
  if (settings === null) return null;
  const egress = egressTo(settings, services);
  const { prisma, clock } = services;
  const parts: Parts = {
    services,
    record,
    settings,
    redirectUri: `${services.config.http.url}${CALLBACK_PATH}`,
    key: deriveKey(masterKey, 'sign-on'),
    flow: { prisma, clock, egress },
  };
  return {
    begin: next => orRefusal(services, () => beginSignOn(parts.flow, parts, next)),
    finish: answer => finish(parts, answer),
    end: (session, address) => end(parts, session, address),
    recheck: closing => recheckPeople(parts, closing),
    close: () => egress.close(),
  };
}

/** The operator names the issuer, so its host may be private, without users' requests being allowed there. */
function egressTo({ oauth }: SignOnSettings, { config }: Services): Egress {
  return createEgress({ allowPrivate: [...config.egress.allowPrivate, hostOf(new URL(oauth.issuer))] });
}

/** Returns what `work` returns, or why it refused. The operator's log has the reason in one line. */
async function orRefusal<T>({ logger }: Services, work: () => Promise<T>): Promise<SignOnOutcome<T>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SignOnRefused)) throw error;
    logger.warn({ reason: error.reason }, `sign-on refused: ${error.message}`);
    return { refused: error.reason };
  }
}

async function finish(
  parts: Parts,
  { address, ...answer }: Parameters<SignOn['finish']>[0],
): Promise<SignOnOutcome<SignedOn>> {
  const { services, settings, record } = parts;
  // Limited for each sign-in, and for the address: a whole office may arrive within a minute, from one address.
  const state = sha256(answer.params.get('state') ?? '').toString('base64url');
  await limitAttemptsFrom(services, { kind: 'sign-on', address, account: state });
  let subject: string | undefined;
  const onSubject = (proved: string) => {
    subject = proved;
  };
  const { issuer } = settings.oauth;
  // Read before a refusal takes memberships away, whose workspaces are to know of it.
  let before: Awaited<ReturnType<typeof membersOf>> = [];
  const outcome = await orRefusal(services, async () => {
    const finished = await finishSignOn(parts.flow, parts, { ...answer, onSubject });
    before = await membersOf(services, issuer, subject);
    const account = await admitPerson(services, finished.person, settings);
    const sessionId = randomToken(16);
    await keepRefreshToken(parts, finished.person.subject, finished.refreshToken);
    await keepIdToken(parts, { sessionId, userId: account.id, idToken: finished.idToken });
    const { id, email, name, sessionEpoch } = account;
    const until = services.clock.now() + SESSION_MS;
    return { id, email, name, sessionEpoch, sessionId, until, next: finished.next };
  });
  const refused = 'refused' in outcome ? outcome.refused : null;
  if (refused === null) await services.rateLimiter.refund('failed_sign_in', address);
  const after = await membersOf(services, issuer, subject);
  const members = refused === null || before.length === 0 ? after : before;
  for (const member of members) await record({ ...member, operation: 'sign_in', outcome: refused ?? 'ok', address });
  return outcome;
}

/** Returns the memberships of the account that signs in as this person. */
async function membersOf({ prisma }: Services, issuer: string, subject: string | undefined) {
  const identity = subject === undefined ? null : await findIdentity(prisma, { issuer, subject });
  if (identity === null) return [];
  return (await readMemberships(prisma, identity.userId)).map(({ tenantId, userId }) => ({ tenantId, userId }));
}

async function keepIdToken(
  { services, key }: Parts,
  { sessionId, userId, idToken }: { sessionId: string; userId: string; idToken: string },
): Promise<void> {
  const now = services.clock.now();
  const sealed = new Uint8Array(seal(key, Buffer.from(idToken), [...ID_TOKEN_PLACE, sessionId]));
  const row = { sessionId, userId, idToken: sealed, expiresAt: new Date(now + SESSION_MS) };
  await saveSignOnSession(services.prisma, row, new Date(now));
}

/** RP-initiated logout (OpenID Connect). Without the issuer's endpoint, or its answer, only the session here has ended. */
async function end(parts: Parts, { userId, sessionId }: Session, address: string | null): Promise<string | null> {
  const { services, settings, key, record } = parts;
  const sealed = sessionId === undefined ? null : await takeSignOnSession(services.prisma, sessionId);
  if (sealed === null || sessionId === undefined) return null;
  for (const { tenantId } of await readMemberships(services.prisma, userId))
    await record({ tenantId, userId, operation: 'sign_out', outcome: 'ok', address });
  const outcome = await orRefusal(services, async () => {
    const client = await clientOf(parts.flow, settings);
    if (client.serverMetadata().end_session_endpoint === undefined) return null;
    return buildEndSessionUrl(client, {
      id_token_hint: open(key, sealed, [...ID_TOKEN_PLACE, sessionId]).toString(),
      post_logout_redirect_uri: `${services.config.http.url}/sign-in`,
    }).href;
  });
  return outcome === null || typeof outcome === 'string' ? outcome : null;
}
