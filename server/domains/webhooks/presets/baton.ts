import { isSignedBy, isTimely, parseSignature, replayableUntil, TIMESTAMP_TOLERANCE_MS } from '../signature.ts';
import type { PresetRules } from './preset.ts';

const SIGNATURE = 'x-service-signature';
const TIMESTAMP = 'x-service-timestamp';

/** The signature of the API contract. `authenticateDelivery` checks the token that must accompany it. */
export const batonPreset: PresetRules = {
  verify({ body, header }, { secrets, requireTimestamp, now }) {
    const timestamp = header(TIMESTAMP);
    const signed = isSignedBy({ body, timestamp, signature: header(SIGNATURE) }, secrets);
    const timely = isTimely(timestamp, requireTimestamp, now);
    if (!signed) return 'bad_signature';
    return timely ? null : 'bad_timestamp';
  },
  identify({ header }, _payload, now) {
    const digest = parseSignature(header(SIGNATURE));
    const timestamp = header(TIMESTAMP);
    if (digest === null) return null;
    // Equal bodies without a timestamp have equal signatures. A scheduler that posts the same body expects a run each
    // time, so the identity is known only for the tolerance of timestamps.
    const knownUntil = replayableUntil(timestamp) ?? now + TIMESTAMP_TOLERANCE_MS;
    return { digest, knownUntil, withKeyOnly: timestamp === undefined };
  },
};
