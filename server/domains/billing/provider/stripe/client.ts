import Stripe from 'stripe';
import type { StripeSettings } from '../../../../operation/billing-settings.ts';
import { createEgress, type Egress } from '../../../../platform/egress/egress.ts';

/**
 * The version of Stripe's API for which this adapter was written, and in which answers and events arrive. It must be
 * the version of the installed SDK's types: the compiler refuses any other.
 */
export const stripeApiVersion = '2026-10-28.endive' satisfies Stripe.LatestApiVersion;

/** The time limit of one attempt of a request, ms. Stripe answers within 2 s unless a bank is slow. */
const TIMEOUT_MS = 20_000;
/** Further attempts after a lost connection, 409 or 5xx, with the same idempotency key. */
const RETRIES = 2;

export type StripeClient = { stripe: Stripe; close(): Promise<void> };

/**
 * Creates Stripe's client behind a separate egress guard. The operator sets the address, so it may be on a private
 * network; all other rules of the guard apply (no redirect, no credentials in the URL). Sends nothing about this
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

/** Stripe never redirects. Another server could, and its target would receive the secret key. */
function withoutRedirects(egress: Egress): typeof globalThis.fetch {
  return (input, init) => egress.fetch(input, { ...init, redirect: 'error' });
}
