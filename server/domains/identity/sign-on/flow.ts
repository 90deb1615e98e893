import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
} from 'openid-client';
import { z } from 'zod';
import type { SignOnSettings } from '../../../operation/sign-on-settings.ts';
import { constantTimeEqual, randomToken, sha256 } from '../../../platform/crypto/digest.ts';
import { DecryptionError, open, seal } from '../../../platform/crypto/envelope.ts';
import { type OauthServices, oauthClient, oauthFailure } from '../../../platform/oauth/client.ts';
import type { Database } from '../account-store.ts';
import { type Person, readClaims, readPerson } from './claims.ts';
import { SignOnRefused } from './refusal.ts';
import { spendState } from './store.ts';

export type FlowServices = OauthServices & { prisma: Database };
export type FlowOptions = { settings: SignOnSettings; redirectUri: string; key: Uint8Array };
/** Long enough to sign in with a second factor. */
export const FLOW_MS = 10 * 60_000;

const PLACE = ['sign-on', 'flow'];
const Flow = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  next: z.string(),
  expiresAt: z.number(),
});

/**
 * Starts a sign-in: code with PKCE S256, state and nonce. What the end will need is sealed into a cookie of the browser,
 * so nothing is stored for visitors who never come back. `next` is a path of the console. Throws SignOnRefused.
 */
export async function beginSignOn(
  services: FlowServices,
  { settings, redirectUri, key }: FlowOptions,
  next: string,
): Promise<{ url: string; cookie: string }> {
  const client = await clientOf(services, settings);
  const expiresAt = services.clock.now() + FLOW_MS;
  const flow = { state: randomToken(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), next, expiresAt };
  const url = buildAuthorizationUrl(client, {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: settings.oauth.scopes.join(' '),
    state: flow.state,
    nonce: flow.nonce,
    code_challenge: await calculatePKCECodeChallenge(flow.verifier),
    code_challenge_method: 'S256',
  });
  return { url: url.href, cookie: seal(key, Buffer.from(JSON.stringify(flow)), PLACE).toString('base64url') };
}

export type FinishedSignOn = { person: Person; idToken: string; refreshToken: string | undefined; next: string };
/** Called with the subject as soon as the issuer has proved it, so that a later refusal can name the account. */
export type OnSubject = (subject: string) => void;

/**
 * Finishes a sign-in: once, within ten minutes, in the browser that started it. Signature, issuer, audience, time and
 * nonce of the ID token are verified, and the issuer of the answer (RFC 9207). Throws SignOnRefused.
 */
export async function finishSignOn(
  services: FlowServices,
  { settings, redirectUri, key }: FlowOptions,
  { cookie, params, onSubject }: { cookie: string | undefined; params: URLSearchParams; onSubject: OnSubject },
): Promise<FinishedSignOn> {
  const flow = readFlow(key, cookie);
  const states = params.getAll('state');
  const now = services.clock.now();
  if (flow === null || states.length !== 1 || !constantTimeEqual(states[0] ?? '', flow.state) || flow.expiresAt <= now)
    throw new SignOnRefused('sign_on_expired', 'the state is of another browser, or older than ten minutes');
  const used = { now: new Date(now), expiresAt: new Date(flow.expiresAt) };
  if (!(await spendState(services.prisma, new Uint8Array(sha256(flow.state)), used)))
    throw new SignOnRefused('sign_on_expired', 'the state was used before');
  const client = await clientOf(services, settings);
  const url = new URL(redirectUri);
  url.search = params.toString();
  try {
    const tokens = await authorizationCodeGrant(client, url, {
      pkceCodeVerifier: flow.verifier,
      expectedState: flow.state,
      expectedNonce: flow.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined || tokens.id_token === undefined)
      throw new SignOnRefused('sign_on_untrusted', 'the issuer sent no ID token');
    onSubject(claims.sub);
    const all = await readClaims(client, { claims, accessToken: tokens.access_token }, settings);
    const { id_token: idToken, refresh_token: refreshToken } = tokens;
    return { person: readPerson(claims.sub, all, settings), idToken, refreshToken, next: flow.next };
  } catch (error) {
    throw refusalOf(error);
  }
}

function readFlow(key: Uint8Array, cookie: string | undefined): z.output<typeof Flow> | null {
  if (cookie === undefined) return null;
  try {
    return Flow.parse(JSON.parse(open(key, Buffer.from(cookie, 'base64url'), PLACE).toString()));
  } catch (error) {
    if (error instanceof DecryptionError) return null;
    throw error;
  }
}

/** Returns the client of the issuer. Throws SignOnRefused. */
export async function clientOf(services: OauthServices, { oauth }: SignOnSettings): Promise<Configuration> {
  return oauthClient(services, oauth).catch(error => {
    throw refusalOf(error);
  });
}

/**
 * Converts a failure of the client. The error itself is not passed on, because it can quote tokens. An answer that does
 * not verify has a code of its own (`OAUTH_…`), which names the check.
 */
export function refusalOf(error: unknown): SignOnRefused {
  if (error instanceof SignOnRefused) return error;
  if (error instanceof AuthorizationResponseError) return denied(error.error);
  const failure = oauthFailure(error);
  if ('refused' in failure && failure.refused !== 'invalid_response') return denied(failure.refused);
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if ('refused' in failure || /^OAUTH_(?:JWT|JSON|KEY|INVALID|UNSUPPORTED|MISSING)_/.test(code))
    return new SignOnRefused('sign_on_untrusted', `an answer of the issuer failed a check (${code || 'no code'})`);
  return new SignOnRefused('sign_on_unavailable', `the issuer does not answer (${failure.away})`);
}

function denied(code: string): SignOnRefused {
  const shown = /^[a-z_]{1,64}$/.test(code) ? code : 'error';
  return new SignOnRefused('sign_on_denied', `the issuer refused the sign-in (${shown})`);
}
