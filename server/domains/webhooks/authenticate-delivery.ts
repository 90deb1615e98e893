import type { Services } from '../../operation/services.ts';
import type { Scope } from '../../orchestrator/ports/authority.ts';
import { AppError, unauthenticated, unavailable } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { noteShownSecrets } from '../../platform/secrets/in-use.ts';
import { generatePatToken, isWellFormedPat, patHash } from '../identity/pats/token.ts';
import { recordUse } from '../identity/principal.ts';
import type { PatGrant } from '../identity/principal-cache.ts';
import type { ActsFor } from '../runs/start/step-scopes.ts';
import { mayStart } from './automation.ts';
import { PRESETS } from './presets/catalog.ts';
import type { Failure, Received } from './presets/preset.ts';
import { presetRules } from './presets/rules.ts';
import { findIngress, type Ingress, type IngressRow } from './queries.ts';
import { acceptedSecrets } from './signature.ts';
import { readSigningSecrets } from './signing-secrets.ts';

/** `webhookId` is null if there is no webhook for which to record the refusal. `error` is the answer to the sender. */
export type Authentication =
  | {
      authenticated: true;
      webhook: IngressRow;
      startedBy: string;
      carried: readonly (readonly Scope[])[];
      actsFor: ActsFor;
    }
  | { authenticated: false; webhookId: string | null; code: string; message: string; error: AppError };

/**
 * A well-formed id and token that do not exist. They are looked up if the request has none, so that the work is the
 * same.
 */
export const nobody = { tenantId: '-', id: '00000000-0000-0000-0000-000000000000', token: generatePatToken() };

/**
 * The parts of the path: the id in its stored form, or null if it cannot be an id; and the secret after a full stop.
 */
export type Address = { id: string | null; secret: string | null };

/** Parses `<id>`, or `<id>.<secret>` for the preset `secret-url`. */
export function readAddress(segment: string): Address {
  const end = segment.indexOf('.');
  const id = (end === -1 ? segment : segment.slice(0, end)).toLowerCase();
  return { id: isId(id) ? id : null, secret: end === -1 ? null : segment.slice(end + 1) };
}

/**
 * Authenticates a delivery (docs/specification/webhooks.md#deliveries) by the rules of the webhook's preset: `baton`
 * checks the signature, then the token, which needs `workflow:run` in the webhook's own project, and a contributor as
 * its user; with every other preset the stored token must be able to start runs. Every failure does the same work: one
 * query, one reading of the secret store, digests for two secrets. So the time reveals neither whether a webhook exists
 * nor which half of the proof was right. Throws AppError 503 if the database or the secret store is unavailable.
 */
export async function authenticateDelivery(
  services: Services,
  { id }: Address,
  received: Received,
): Promise<Authentication> {
  const authorization = received.header('authorization');
  const found = await findIngress(services.pool, id ?? nobody.id, patHash(bearerOf(authorization))).catch(cause => {
    throw unavailable('token_lookup_unavailable', 'The token cannot be looked up at the moment.', 2, cause);
  });
  const webhook = atThisAddress(found.webhook, received);
  const ref = { tenantId: webhook?.tenantId ?? nobody.tenantId, id: webhook?.id ?? nobody.id };
  const stored = await readSigningSecrets(services, ref);
  noteShownSecrets([
    stored?.current ?? nobody.token,
    stored?.previous?.secret ?? nobody.token,
    authorization?.split(' ').at(-1) ?? nobody.token,
  ]);
  const now = services.clock.now();
  const failure = presetRules[webhook?.preset ?? 'baton'].verify(received, {
    secrets: acceptedSecrets(stored, now),
    requireTimestamp: webhook?.requireTimestamp === true,
    username: webhook?.username ?? null,
    now,
  });
  const waitsForSecret = stored === null && webhook !== null && webhook.preset !== 'baton';
  return judge(services, { ...found, webhook }, { failure, waitsForSecret, now });
}

/** Returns the webhook if the address fits; an address has a secret only with some presets. */
function atThisAddress(webhook: IngressRow | null, { pathSecret }: Received): IngressRow | null {
  return pathSecret === null || (webhook && PRESETS[webhook.preset].secretInAddress) ? webhook : null;
}

type Checked = { failure: Failure | null; waitsForSecret: boolean; now: number };

function judge(services: Services, { webhook, bearer, automation }: Ingress, checked: Checked): Authentication {
  const { failure, waitsForSecret, now } = checked;
  if (webhook === null) return refused(null, 'unknown_webhook');
  if (!webhook.enabled) return refused(webhook, 'disabled');
  if (waitsForSecret) return refused(webhook, 'no_secret');
  if (failure !== null) return refused(webhook, failure);
  if (webhook.preset === 'baton' && !mayStart(bearer, webhook, now)) return refused(webhook, 'bad_token');
  if (webhook.automationPatId !== null && !mayStart(automation, webhook, now)) {
    return refused(webhook, 'bad_automation_token');
  }
  const sender = webhook.preset === 'baton' ? bearer : null;
  const author = automation ?? sender;
  if (author === null) return refused(webhook, 'bad_automation_token');
  const tokens = [...new Set([sender, author])].filter((grant): grant is PatGrant => grant !== null);
  for (const grant of tokens) recordUse(services, grant, now);
  const actsFor = { user_id: author.userId, pat_id: author.patId };
  return { authenticated: true, webhook, startedBy: author.email, carried: tokens.map(grant => grant.scopes), actsFor };
}

/** The reasons that the owner of the webhook sees in the list of deliveries. */
const reasons = {
  unknown_webhook: 'There is no such webhook.',
  disabled: 'The webhook is switched off.',
  no_secret: 'The secret that the sender shows is not stored yet.',
  missing_signature: 'The headers that authenticate a delivery are missing.',
  bad_signature: 'The delivery is not authenticated by a secret that is accepted.',
  bad_timestamp: 'The time of the delivery is missing, malformed, or more than five minutes off.',
  bad_token: 'The Bearer token is missing, expired or revoked, or may not start runs of this project.',
  bad_automation_token:
    'The stored automation token has expired or was revoked, or may no longer start runs of this project.',
} as const;
type Reason = keyof typeof reasons;

/** The reasons for the API's own signature, with the names of its headers. */
const batonReasons: Partial<Record<Reason, string>> = {
  bad_signature: 'X-Service-Signature is missing, or is not this body’s with a secret that is accepted.',
  bad_timestamp: 'X-Service-Timestamp is missing, malformed, or more than five minutes off.',
};

function refused(webhook: IngressRow | null, code: Reason): Authentication {
  const message = (webhook?.preset === 'baton' ? batonReasons[code] : undefined) ?? reasons[code];
  return { authenticated: false, webhookId: webhook?.id ?? null, code, message, error: answerTo(webhook, code) };
}

/**
 * Returns the answer to the sender. Senders with a preset show it to the person who sets them up, so it names the kind
 * of failure, with one code for all ways in which a signature can be wrong. In all other cases it reveals nothing.
 */
function answerTo(webhook: IngressRow | null, code: Reason): AppError {
  const preset = webhook?.preset ?? 'baton';
  const isOpen = code === 'missing_signature' || code === 'bad_signature' || code === 'bad_timestamp';
  if (preset === 'baton' || PRESETS[preset].secretInAddress || !isOpen) return unauthenticated();
  const challenge = preset === 'basic' ? 'Basic realm="webhook", charset="UTF-8"' : 'Bearer';
  return new AppError(401, code, reasons[code], { headers: { 'WWW-Authenticate': challenge } });
}

/** Returns the token to look up; if it is missing or malformed, a token that does not exist. */
function bearerOf(authorization: string | undefined): string {
  const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  return token !== undefined && isWellFormedPat(token) ? token : nobody.token;
}
