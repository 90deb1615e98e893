import type { Scope } from '../../contract/context.ts';
import type { Services } from '../../contract/services.ts';
import { unavailable } from '../../platform/errors.ts';
import { isId } from '../../platform/ids.ts';
import { noteShownSecrets } from '../../platform/secrets/in-use.ts';
import { recordUse } from '../identity/principal.ts';
import { generatePatToken, isWellFormedPat, patHash } from '../pats/token.ts';
import { mayStart } from './automation.ts';
import { isSigned, isTimely, parseSignature, type Signed } from './signature.ts';
import { readSigningSecrets } from './signing-secrets.ts';
import { findIngress, type Ingress, type IngressRow } from './sql/store.ts';

/** The proof that comes with a delivery, as it was sent. */
export type Proof = Signed & { authorization: string | undefined };

/** `webhookId` null: there is none to write the refusal down for. */
export type Admission =
  | {
      admitted: true;
      webhook: IngressRow;
      startedBy: string;
      carried: readonly (readonly Scope[])[];
      /** The bytes of the signature that was right. */
      signature: Buffer;
    }
  | { admitted: false; webhookId: string | null; code: string; message: string };

/** Ask for something that is in the form of an id or of a token, and is neither. */
const nobody = { tenantId: '-', id: '00000000-0000-0000-0000-000000000000', token: generatePatToken() };

/** The id in the path in the form it is stored in; null where it can be no id at all. */
export function webhookIdIn(text: string): string | null {
  const id = text.toLowerCase();
  return isId(id) ? id : null;
}

/**
 * Authenticates a delivery (docs/specification/webhooks.md#deliveries): first the signature, then the token, which
 * needs `workflow:run` in the webhook's own project, and a contributor as its user. Every failure does the same work:
 * one query, one reading of the secret store, two HMACs. So the time reveals neither whether a webhook exists nor which
 * half of the proof was right. AppError 503 if the database or the secret store is unavailable.
 */
export async function admit(services: Services, givenId: string | null, proof: Proof): Promise<Admission> {
  const token = bearerOf(proof.authorization);
  const found = await findIngress(services.pool, givenId ?? nobody.id, patHash(token)).catch(cause => {
    throw unavailable('token_lookup_unavailable', 'The token cannot be looked up at the moment.', 2, cause);
  });
  const { webhook } = found;
  const ref = { tenantId: webhook?.tenantId ?? nobody.tenantId, id: webhook?.id ?? nobody.id };
  const secrets = await readSigningSecrets(services, ref);
  noteShownSecrets([secrets?.current ?? nobody.token, secrets?.previous?.secret ?? nobody.token]);
  const now = services.clock.now();
  const signed = isSigned(proof, secrets, now);
  const timely = isTimely(proof.timestamp, webhook?.requireTimestamp === true, now);
  const signature = signed ? parseSignature(proof.signature) : null;
  return judge(services, found, { signature, timely, now });
}

function judge(
  services: Services,
  { webhook, bearer, automation }: Ingress,
  { signature, timely, now }: { signature: Buffer | null; timely: boolean; now: number },
): Admission {
  if (webhook === null) return refused(null, 'unknown_webhook');
  if (!webhook.enabled) return refused(webhook.id, 'disabled');
  if (signature === null) return refused(webhook.id, 'bad_signature');
  if (!timely) return refused(webhook.id, 'bad_timestamp');
  if (!mayStart(bearer, webhook, now)) return refused(webhook.id, 'bad_token');
  if (webhook.automationPatId !== null && !mayStart(automation, webhook, now))
    return refused(webhook.id, 'bad_automation_token');
  const author = automation ?? bearer;
  const tokens = [...new Set([bearer, author])];
  for (const grant of tokens) recordUse(services, grant, now);
  return { admitted: true, webhook, startedBy: author.email, carried: tokens.map(grant => grant.scopes), signature };
}

/** The reason that the owner of the webhook sees in its deliveries; the sender does not get it. */
const reasons = {
  unknown_webhook: 'There is no such webhook.',
  disabled: 'The webhook is switched off.',
  bad_signature: 'X-Service-Signature is missing, or is not this body’s with a secret that is accepted.',
  bad_timestamp: 'X-Service-Timestamp is missing, malformed, or more than five minutes off.',
  bad_token: 'The Bearer token is missing, expired or revoked, or may not start runs of this project.',
  bad_automation_token:
    'The stored automation token has expired or was revoked, or may no longer start runs of this project.',
} as const;

function refused(webhookId: string | null, code: keyof typeof reasons): Admission {
  return { admitted: false, webhookId, code, message: reasons[code] };
}

/** The token to look up; if it is missing or malformed, a token that does not exist. */
function bearerOf(authorization: string | undefined): string {
  const token = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
  return token !== undefined && isWellFormedPat(token) ? token : nobody.token;
}
