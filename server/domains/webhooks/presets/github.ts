import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { digestOfHex, identityOf, isSignedWith } from './hmac.ts';
import { type Expected, type Failure, jsonOrForm, type PresetRules, type Received } from './preset.ts';

const SIGNATURE = 'x-hub-signature-256';
const PREFIX = 'sha256=';

const deliveryId = (header: string | undefined) => (/^[\x21-\x7e]{1,100}$/.test(header ?? '') ? header : undefined);
const eventName = (header: string | undefined) => (/^[a-z_]{1,100}$/.test(header ?? '') ? header : undefined);

/** Checks `X-Hub-Signature-256`, which GitHub and Meta send: `sha256=` and the hex HMAC-SHA256 of the body. */
export function verifyHubSignature({ body, header }: Received, { secrets }: Expected): Failure | null {
  const given = header(SIGNATURE);
  const digest = given?.startsWith(PREFIX) ? digestOfHex(given.slice(PREFIX.length)) : null;
  const signed = isSignedWith(secrets, [body], digest === null ? [] : [digest]);
  if (given === undefined) return 'missing_signature';
  return signed ? null : 'bad_signature';
}

/**
 * GitHub: `X-Hub-Signature-256` is `sha256=` and the hex HMAC-SHA256 of the body. GitHub signs no time, and neither the
 * delivery id nor the name of the event. `X-Hub-Signature` (SHA-1) is ignored.
 */
export const githubPreset: PresetRules = {
  verify: verifyHubSignature,
  format: jsonOrForm,
  identify({ header }, _payload, now) {
    // Combined with the signature, so that a forged id with another body cannot claim the id of a future delivery.
    return identityOf(['github', deliveryId(header('x-github-delivery')) ?? '', header(SIGNATURE) ?? ''], now);
  },
  acknowledge: ({ header }) => (header('x-github-event') === 'ping' ? { acknowledged: 'ping' } : null),
  describe({ header }) {
    const event = eventName(header('x-github-event'));
    const delivery = deliveryId(header('x-github-delivery'));
    const webhook: JsonMap = { ...(event ? { event } : {}), ...(delivery ? { delivery_id: delivery } : {}) };
    return { webhook };
  },
};
