import Stripe from 'stripe';
import type { StripeSettings } from '../../../../contract/billing-settings.ts';
import { createEgress, type Egress } from '../../../../platform/egress/egress.ts';

/**
 * The version of Stripe's API that this adapter was written against and that its answers and events have. It is the one of
 * the installed SDK's types: the compiler refuses an SDK whose types are of another version.
 */
export const stripeApiVersion = '2026-10-28.endive' satisfies Stripe.LatestApiVersion;

/** How long one try of a request may take, ms. Stripe answers within 2 s but for a bank that hesitates. */
const TIMEOUT_MS = 20_000;
/** Beyond the first try: after a lost connection, 409, 5xx; with the same idempotency key. */
const RETRIES = 2;

export type StripeClient = { stripe: Stripe; close(): Promise<void> };

/**
 * Stripe's own client behind a guard of its own. The operator sets the address, so it alone may be on a private
 * network; the rest of the guard applies (no redirect, no credentials in the URL). Nothing is reported about this
 * machine (`telemetry`).
 */
export function createStripeClient(settings: Pick<StripeSettings, 'secretKey' | 'apiUrl'>): StripeClient {
  const url = settings.apiUrl === null ? null : new URL(settings.apiUrl);
  const egress = createEgress({ allowPrivate: url === null ? [] : [url.hostname] });
  const stripe = new Stripe(settings.secretKey, {
    apiVersion: stripeApiVersion,
    httpClient: Stripe.createFetchHttpClient(withoutRedirects(egress)),
    maxNetworkRetries: RETRIES,
    timeout: TIMEOUT_MS,
    telemetry: false,
    appInfo: { name: 'Baton' },
    ...(url !== null && {
      protocol: url.protocol === 'http:' ? 'http' : 'https',
      host: url.hostname,
      port: portOf(url),
    }),
  });
  return { stripe, close: () => egress.close() };
}

function portOf(url: URL): string {
  if (url.port !== '') return url.port;
  return url.protocol === 'http:' ? '80' : '443';
}

/** Stripe never redirects; another server that did would get the secret key. */
function withoutRedirects(egress: Egress): typeof globalThis.fetch {
  return (input, init) => egress.fetch(input, { ...init, redirect: 'error' });
}
