import { isTimely } from '../signature.ts';
import { digestOfHex, identityOf, isSignedWith, MAX_SIGNATURES } from './hmac.ts';
import type { PresetRules } from './preset.ts';

const SIGNATURE = 'stripe-signature';

type StripeSignature = { timestamp: string | undefined; digests: Buffer[] };

/**
 * Reads `t=<seconds>,v1=<hex>,v1=<hex>,v0=…`: one time, and one `v1` for each secret that is active at Stripe. Other
 * schemes are ignored, as Stripe requires. A header with two times counts as one without a time.
 */
function parseStripeSignature(header: string): StripeSignature {
  const pairs = header.split(',', 2 * MAX_SIGNATURES).map(item => {
    const [name = '', value = ''] = item.trim().split('=', 2);
    return { name, value };
  });
  const valuesOf = (wanted: string) => pairs.filter(({ name }) => name === wanted).map(({ value }) => value);
  const times = valuesOf('t');
  const digests = valuesOf('v1').slice(0, MAX_SIGNATURES).map(digestOfHex);
  return {
    timestamp: times.length === 1 ? times[0] : undefined,
    digests: digests.filter(digest => digest !== null),
  };
}

/** Stripe: HMAC-SHA256 over `<time>.<body>`, keyed with the whole secret as text, `whsec_` included. */
export const stripePreset: PresetRules = {
  verify({ body, header }, { secrets, now }) {
    const given = header(SIGNATURE);
    const { timestamp, digests } = parseStripeSignature(given ?? '');
    const signed = isSignedWith(secrets, [`${timestamp}.`, body], digests);
    if (given === undefined) return 'missing_signature';
    if (!isTimely(timestamp, true, now)) return 'bad_timestamp';
    return signed ? null : 'bad_signature';
  },
  format: () => 'json',
  identify({ header }, { id }, now) {
    // When Stripe repeats a delivery, it has the same event id, with a new time and signature.
    if (typeof id === 'string' && id !== '') return identityOf(['stripe', id], now);
    return identityOf(['stripe', '', header(SIGNATURE) ?? ''], now);
  },
};
