import type { z } from 'zod';
import type { PublicContext } from '../../operation/context.ts';
import { constantTimeEqual } from '../../platform/crypto/digest.ts';
import { unauthenticated, unavailable } from '../../platform/errors.ts';
import { noteShownSecrets } from '../../platform/secrets/in-use.ts';
import { patHash } from '../identity/pats/token.ts';
import { nobody, readAddress } from './authenticate-delivery.ts';
import { recordDelivery } from './delivery-log.ts';
import { PRESETS } from './presets/catalog.ts';
import { findIngress } from './queries.ts';
import { type ChallengeAnswer, type ChallengeInput, TESTED } from './schemas.ts';
import { readVerifyToken } from './signing-secrets.ts';

/**
 * GET /v1/inbound-webhooks/{id}/callback: answers the request with which Meta tests an address. The answer is the
 * request's challenge if it has the webhook's verify token. Throws AppError 401, with the same answer after the same
 * work for every other request; 503 if the database or the secret store is unavailable. Both are recorded in the
 * deliveries of the webhook.
 */
export async function answerChallenge(
  { services }: PublicContext,
  input: z.output<typeof ChallengeInput>,
): Promise<z.input<typeof ChallengeAnswer>> {
  const { pool, clock } = services;
  const receivedAt = clock.now();
  const { id, secret } = readAddress(input.id);
  const { webhook } = await findIngress(pool, id ?? nobody.id, patHash(nobody.token)).catch(cause => {
    throw unavailable('token_lookup_unavailable', 'The token cannot be looked up at the moment.', 2, cause);
  });
  const ref = { tenantId: webhook?.tenantId ?? nobody.tenantId, id: webhook?.id ?? nobody.id };
  const token = await readVerifyToken(services, ref);
  const { 'hub.mode': mode, 'hub.challenge': challenge, 'hub.verify_token': given = '' } = input;
  noteShownSecrets([token ?? nobody.token, given]);
  const isRight = constantTimeEqual(given, token ?? nobody.token) && token !== null;
  const open = webhook?.enabled && PRESETS[webhook.preset].hasVerifyToken ? webhook : null;
  const accepted = isRight && open !== null && secret === null && mode === 'subscribe';
  if (open !== null) {
    recordDelivery(services, {
      subscriptionId: open.id,
      ...(accepted
        ? { outcome: 'accepted', http_status: 200, code: 'challenge', message: TESTED }
        : { outcome: 'unauthorized', http_status: 401, code: 'bad_verify_token', message: REFUSED }),
      run_id: null,
      bytes: 0,
      duration_ms: Math.max(0, clock.now() - receivedAt),
      received_at: new Date(receivedAt),
    });
  }
  if (!accepted || challenge === undefined) throw unauthenticated();
  return { text: challenge };
}

const REFUSED = 'The sender tested the address with another verify token.';
