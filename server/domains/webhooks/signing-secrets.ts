import type { Services } from '../../operation/services.ts';
import { randomToken } from '../../platform/crypto/digest.ts';
import { SigningSecrets, signingSecretName } from './signature.ts';

type SecretServices = Pick<Services, 'secrets' | 'clock'>;
type Ref = { tenantId: string; id: string };

/** Returns the secrets of a webhook; null if there are none, or if Baton did not write them. Throws AppError 503. */
export async function readSigningSecrets({ secrets }: SecretServices, { tenantId, id }: Ref) {
  return parse(await secrets.get(tenantId, signingSecretName(id)));
}

function parse(stored: string | null): SigningSecrets | null {
  if (stored === null) return null;
  return SigningSecrets.safeParse(JSON.parse(stored)).data ?? null;
}

/** Stores the first secret of a webhook. Throws AppError 503. */
export async function storeSigningSecret(
  { secrets }: SecretServices,
  { tenantId, id }: Ref,
  current: string,
): Promise<void> {
  await secrets.put(tenantId, signingSecretName(id), JSON.stringify({ current, previous: null }));
}

/** Returns the name under which the verify token of a webhook is stored. */
const verifyTokenName = (webhookId: string) => `${signingSecretName(webhookId)}/verify-token`;

/** Stores a new verify token, with which a sender tests the address, and returns it. Throws AppError 503. */
export async function renewVerifyToken({ secrets }: SecretServices, { tenantId, id }: Ref): Promise<string> {
  const token = randomToken(24);
  await secrets.put(tenantId, verifyTokenName(id), token);
  return token;
}

/** Returns the verify token of a webhook, or null if it has none. Throws AppError 503. */
export function readVerifyToken({ secrets }: SecretServices, { tenantId, id }: Ref): Promise<string | null> {
  return secrets.get(tenantId, verifyTokenName(id));
}

/** Deletes all secrets of a webhook from the secret store. Throws AppError 503. */
export async function deleteSecrets({ secrets }: SecretServices, { tenantId, id }: Ref): Promise<void> {
  await secrets.delete(tenantId, signingSecretName(id));
  await secrets.delete(tenantId, verifyTokenName(id));
}

export type Rotation = { secret: string; overlapS: number };

/**
 * Replaces the secret, and returns until when (ms) the old one is accepted, `overlapS` more seconds; null if it is not.
 * Rotations of one webhook are queued, so after two concurrent ones both new secrets are accepted: the first is then
 * the previous one. Throws AppError 503.
 */
export function rotateSigningSecret(services: SecretServices, ref: Ref, rotation: Rotation): Promise<number | null> {
  const before = rotations.get(ref.id) ?? Promise.resolve();
  const rotated = before.then(() => rotate(services, ref, rotation));
  const settled = rotated.then(
    () => undefined,
    () => undefined,
  );
  rotations.set(ref.id, settled);
  void settled.then(() => rotations.get(ref.id) === settled && rotations.delete(ref.id));
  return rotated;
}

/** Rotations in progress, by webhook. Ids are unique over all databases, so one map is enough. */
const rotations = new Map<string, Promise<undefined>>();

async function rotate(services: SecretServices, ref: Ref, { secret, overlapS }: Rotation): Promise<number | null> {
  const old = await readSigningSecrets(services, ref);
  const previousUntil = old === null || overlapS === 0 ? null : services.clock.now() + overlapS * 1000;
  const previous = old === null || previousUntil === null ? null : { secret: old.current, until: previousUntil };
  const renewed: SigningSecrets = { current: secret, previous };
  await services.secrets.put(ref.tenantId, signingSecretName(ref.id), JSON.stringify(renewed));
  return previousUntil;
}
