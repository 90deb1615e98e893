import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AppError } from '../../../../platform/errors.ts';
import { createLogger } from '../../../../platform/logger.ts';
import { readForm } from '../../../../testing/stripe/form.ts';
import { type StripeServer, startStripeServer } from '../../../../testing/stripe/server.ts';
import { testStripe } from '../../../../testing/stripe/wire.ts';
import { createStripeClient, stripeApiVersion } from './client.ts';
import { translateError } from './errors.ts';

let server: StripeServer;
beforeAll(async () => {
  server = await startStripeServer();
});
afterAll(() => server.close());

/** Calls Stripe with a key at an address. Returns the reported failure, and the logged one. */
async function failureOfCall(settings: { secretKey: string; apiUrl: string }, path = 'cus_unknown') {
  const { stripe, close } = createStripeClient(settings);
  const destination = new PassThrough();
  const logger = createLogger('trace', { destination });
  try {
    const error = await stripe.customers.retrieve(path, {}, { maxNetworkRetries: 0 }).then(
      () => null,
      (cause: unknown) => translateError(cause, logger),
    );
    const { lastResponse: _, ...told } = { lastResponse: null, ...(error instanceof AppError ? error : {}) };
    return { error, told: JSON.stringify(told), logged: String(destination.read() ?? '') };
  } finally {
    await close();
  }
}

describe('the client', () => {
  test('calls the operator’s address, with the pinned version', async () => {
    const { stripe, close } = createStripeClient({ secretKey: testStripe.secretKey, apiUrl: server.url });
    const made = await stripe.customers.create({ email: 'a@b.example', metadata: { tenant_id: "o'hara" } });
    expect(made.lastResponse.apiVersion).toBe(stripeApiVersion);
    const { data } = await stripe.customers.search({ query: "metadata['tenant_id']:'o\\'hara'" });
    expect(data.map(({ id }) => id)).toEqual([made.id]);
    await close();
  });

  test('returns 503 for a wrong key, and neither returns nor logs a secret', async () => {
    const secretKey = 'sk_live_a_wrong_key_0123456789';
    const { error, told, logged } = await failureOfCall({ secretKey, apiUrl: server.url });
    expect(error).toMatchObject({ status: 503, code: 'payment_provider_unavailable', headers: { 'Retry-After': '5' } });
    expect(logged).toContain('BATON_STRIPE_SECRET_KEY');
    for (const text of [told, logged, String(error), String((error as Error).cause)]) {
      expect(text).not.toContain(secretKey);
      expect(text).not.toContain('sk_');
    }
  });

  test('follows no redirect, since its target would receive the key', async () => {
    const requestedPaths: string[] = [];
    const redirecting = createServer((request, response) => {
      requestedPaths.push(request.url ?? '');
      response.writeHead(307, { Location: `${server.url}/v1/customers/x` }).end();
    });
    await new Promise<void>(resolve => redirecting.listen(0, '127.0.0.1', resolve));
    const apiUrl = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}`;
    const before = server.requests.length;
    const { error } = await failureOfCall({ secretKey: testStripe.secretKey, apiUrl });
    expect(error).toMatchObject({ status: 503 });
    expect(requestedPaths).toHaveLength(1);
    expect(server.requests).toHaveLength(before);
    await new Promise(resolve => redirecting.close(resolve));
  });

  test('reports only the code of a refusal, since Stripe’s text may quote the request', async () => {
    const { error, logged } = await failureOfCall(
      { secretKey: testStripe.secretKey, apiUrl: server.url },
      'cus_of_somebody',
    );
    expect(error).toMatchObject({ status: 422, code: 'payment_refused', details: [{ code: 'resource_missing' }] });
    expect(String(error)).not.toContain('cus_of_somebody');
    expect(logged).toContain('resource_missing');
  });

  test('returns errors that are not Stripe’s unchanged', () => {
    const error = new Error('other');
    expect(translateError(error, createLogger('silent'))).toBe(error);
  });
});

describe('the wire format of the tests’ Stripe', () => {
  test('reads nested names, lists and empty values as Stripe does', () => {
    expect(
      readForm(
        'items[0][price]=p&items[0][quantity]=1&items[1][price]=q&expand[]=a&expand[]=b.c&metadata[x%20y]=1&discounts=',
      ),
    ).toEqual({
      items: [{ price: 'p', quantity: '1' }, { price: 'q' }],
      expand: ['a', 'b.c'],
      metadata: { 'x y': '1' },
      discounts: '',
    });
  });

  test('replays the answer of a request with the same key, and refuses another request with that key', async () => {
    const { stripe, close } = createStripeClient({ secretKey: testStripe.secretKey, apiUrl: server.url });
    const options = { idempotencyKey: 'one-and-the-same' };
    const first = await stripe.customers.create({ name: 'A' }, options);
    expect((await stripe.customers.create({ name: 'A' }, options)).id).toBe(first.id);
    await expect(stripe.customers.create({ name: 'B' }, options)).rejects.toMatchObject({
      type: 'StripeIdempotencyError',
    });
    await close();
  });
});
