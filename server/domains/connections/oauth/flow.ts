import {
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
} from 'openid-client';
import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import type { Services } from '../../../operation/services.ts';
import { isoTimestamp } from '../../../platform/clock.ts';
import { randomToken, sha256 } from '../../../platform/crypto/digest.ts';
import { invalid } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { oauthAway, oauthClient, oauthFailure } from '../../../platform/oauth/client.ts';
import type { OauthSettings } from '../../../platform/oauth/settings.ts';
import { deleteFlow, findFlow, insertFlow, listLapsedFlows } from './flow-store.ts';

export type FlowKind = 'suite' | 'messaging';
/** Long enough to sign in with a second factor (docs/specification/connections.md#accounts). */
const LIFETIME_MS = 10 * 60_000;

const flowSecret = (flowId: string) => `oauth-flow/${flowId}`;
const FlowSecret = z.object({ verifier: z.string(), nonce: z.string() });
/** Returns the address to which every provider sends the browser back, and which is registered at the provider. */
export const redirectUri = ({ config }: Pick<Services, 'config'>) => `${config.http.url}/connections/callback`;

export type BegunFlow = { authorization_url: string; state: string; expires_at: string };

/**
 * Starts a flow (OAuth 2.1: code with PKCE S256) of this user in this tenant; `request` is the data that its end will
 * need. Only a hash of the state is stored, and the verifier is in the secret store. Throws AppError 503 if that store or the
 * provider's metadata is unavailable.
 */
export async function beginFlow(
  { principal, services }: Context,
  flow: { kind: FlowKind; settings: OauthSettings; scopes: readonly string[]; request: JsonObject },
): Promise<BegunFlow> {
  const { kind, settings, scopes } = flow;
  await removeLapsedFlows(services);
  const client = await clientFor(services, kind, settings);
  const id = newId();
  // The prefix tells the callback page the kind of the flow: all kinds return to one address.
  const state = `${kind}.${randomToken()}`;
  const secret = { verifier: randomPKCECodeVerifier(), nonce: randomNonce() };
  const at = new Date(services.clock.now());
  const expiresAt = new Date(at.getTime() + LIFETIME_MS);
  const { tenantId, userId } = principal;
  const { request } = flow;
  // The row is inserted first: it always leads to the secret, and removeLapsedFlows follows it.
  const owner = { tenantId, userId };
  await insertFlow(services.prisma, { id, stateHash: sha256(state), owner, kind, request, at, expiresAt });
  await services.secrets.put(tenantId, flowSecret(id), JSON.stringify(secret));
  const url = buildAuthorizationUrl(client, {
    ...settings.authorizationParams,
    redirect_uri: redirectUri(services),
    response_type: 'code',
    scope: scopes.join(' '),
    state,
    code_challenge: await calculatePKCECodeChallenge(secret.verifier),
    code_challenge_method: 'S256',
    ...(scopes.includes('openid') ? { nonce: secret.nonce } : {}),
  });
  return { authorization_url: url.href, state, expires_at: isoTimestamp(expiresAt.getTime()) };
}

export type Callback = { code: string; state: string; iss?: string | undefined };
export type FinishedFlow = {
  client: Configuration;
  tokens: Awaited<ReturnType<typeof authorizationCodeGrant>>;
  request: JsonObject;
};

/**
 * Finishes a flow: once, within ten minutes, by the user who started it, in the same tenant. AppError
 * 422 `oauth_state_invalid` for any other state, `oauth_refused` if the provider refuses the code;
 * 503 if it does not answer.
 */
export async function finishFlow(
  { principal, services }: Context,
  { kind, settings }: { kind: FlowKind; settings: OauthSettings },
  callback: Callback,
): Promise<FinishedFlow> {
  const { prisma, secrets, clock } = services;
  const flow = await findFlow(prisma, principal, kind, sha256(callback.state));
  if (flow === null || flow.expiresAt.getTime() <= clock.now()) throw unknownState();
  const client = await clientFor(services, kind, settings);
  const secret = await secrets.take(principal.tenantId, flowSecret(flow.id));
  // A caller that is too late for the secret must leave the row to the caller that has it. If a store returns a secret
  // twice, the row decides.
  if (secret === null || !(await deleteFlow(prisma, principal.tenantId, flow.id))) throw unknownState();
  const { verifier, nonce } = FlowSecret.parse(JSON.parse(secret));
  const url = new URL(redirectUri(services));
  for (const [name, value] of Object.entries(callback)) if (value !== undefined) url.searchParams.set(name, value);
  const openid = settings.scopes.includes('openid');
  try {
    const tokens = await authorizationCodeGrant(client, url, {
      pkceCodeVerifier: verifier,
      expectedState: callback.state,
      ...(openid ? { expectedNonce: nonce, idTokenExpected: true } : {}),
    });
    return { client, tokens, request: flow.request };
  } catch (error) {
    throw refusal(kind, error);
  }
}

/** Converts a failed request to the provider to AppError 422 if it refused, 503 if it did not answer. */
export function refusal(kind: FlowKind, error: unknown): Error {
  const failure = oauthFailure(error);
  if ('away' in failure) return oauthAway(kind, failure.away);
  const reason = `The ${kind} authorization server did not grant access (${failure.refused}). Start again.`;
  return invalid(reason, undefined, 'oauth_refused');
}

async function clientFor(services: Services, kind: FlowKind, settings: OauthSettings): Promise<Configuration> {
  return oauthClient(services, settings).catch(error => {
    throw refusal(kind, error);
  });
}

const unknownState = () =>
  invalid(
    'This sign-in was not started here, has been used, or is older than ten minutes. Start again.',
    [{ path: 'state', message: 'is not the state of a flow in progress' }],
    'oauth_state_invalid',
  );

/** Removes at most a hundred flows that were never finished, secrets first. */
async function removeLapsedFlows({ prisma, secrets, clock }: Services): Promise<void> {
  for (const { id, tenantId } of await listLapsedFlows(prisma, new Date(clock.now()), 100)) {
    await secrets.delete(tenantId, flowSecret(id));
    await deleteFlow(prisma, tenantId, id);
  }
}
