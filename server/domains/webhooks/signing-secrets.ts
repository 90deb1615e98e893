import type { Services } from '../../contract/services.ts';
import { newSigningSecret, SigningSecrets, signingSecretName } from './signature.ts';

type SecretServices = Pick<Services, 'secrets' | 'clock'>;
type Ref = { tenantId: string; id: string };

/** The secrets of a webhook; null where there are none, or where they are nothing we wrote. AppError 503. */
export async function readSigningSecrets({ secrets }: SecretServices, { tenantId, id }: Ref) {
  return parse(await secrets.get(tenantId, signingSecretName(id)));
}

function parse(stored: string | null): SigningSecrets | null {
  if (stored === null) return null;
  return SigningSecrets.safeParse(JSON.parse(stored)).data ?? null;
}

/** Keeps a first secret and returns it. AppError 503. */
export async function createSigningSecret({ secrets }: SecretServices, { tenantId, id }: Ref): Promise<string> {
  const current = newSigningSecret();
  await secrets.put(tenantId, signingSecretName(id), JSON.stringify({ current, previous: null }));
  return current;
}

export type Rotated = { secret: string; previousUntil: number | null };

/**
 * Replaces the secret and returns the new one; the one it replaces is accepted for `overlapS` more seconds. Rotations of one webhook
 * queue, so that of two at once each returns a secret that is accepted: the first one's is then the previous. AppError 503.
 */
export function rotateSigningSecret(services: SecretServices, ref: Ref, overlapS: number): Promise<Rotated> {
  const before = rotations.get(ref.id) ?? Promise.resolve();
  const rotated = before.then(() => rotate(services, ref, overlapS));
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

async function rotate(services: SecretServices, ref: Ref, overlapS: number): Promise<Rotated> {
  const old = await readSigningSecrets(services, ref);
  const previousUntil = old === null || overlapS === 0 ? null : services.clock.now() + overlapS * 1000;
  const current = newSigningSecret();
  const previous = old === null || previousUntil === null ? null : { secret: old.current, until: previousUntil };
  await services.secrets.put(ref.tenantId, signingSecretName(ref.id), JSON.stringify({ current, previous }));
  return { secret: current, previousUntil };
}
