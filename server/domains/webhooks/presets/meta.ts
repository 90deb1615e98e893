import { verifyHubSignature } from './github.ts';
import { identityOf } from './hmac.ts';
import type { PresetRules } from './preset.ts';

/**
 * Meta (WhatsApp, Messenger, Instagram): `X-Hub-Signature-256` is `sha256=` and the hex HMAC-SHA256 of the body, keyed
 * with the app secret. The GET request by which Meta tests the address is answered by `answerChallenge`.
 */
export const metaPreset: PresetRules = {
  verify: verifyHubSignature,
  format: () => 'json',
  // Meta sends no delivery id. A repeated delivery has the same bytes, and each new one has different ids and times in
  // the body.
  identify: ({ header }, _payload, now) => identityOf(['meta', header('x-hub-signature-256') ?? ''], now),
};
