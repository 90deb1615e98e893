import { expect, test } from 'vitest';
import { ManualClock } from '../../platform/clock.ts';
import { createEgress } from '../../platform/egress/egress.ts';
import { createCall } from '../../testing/call.ts';
import { json, startHttpServer } from '../../testing/http-server.ts';
import { createTestServices, createTestTenant, testConfig } from '../../testing/identity.ts';
import { oauthClientId, oauthClientSecret, startOauthServer } from '../../testing/oauth-server.ts';
import { createTestDatabase } from '../../testing/postgres.ts';
import { connectionOperations } from '../connections/operations.ts';
import { createHttpRequester } from './requester.ts';

const HOUR_MS = 3_600_000;

test('a connected account is sent with a fresh access token, and expires where it is withdrawn', async () => {
  // Begins at the real time, since the server's tokens carry it.
  const clock = new ManualClock(Date.now());
  const db = await createTestDatabase();
  const redirectUri = 'http://127.0.0.1:3000/connections/callback';
  const provider = await startOauthServer({ redirectUri });
  const api = await startHttpServer({ '/mail': json({ mails: [] }) });
  const config = testConfig({
    BATON_SUITE_ISSUER: provider.issuer,
    BATON_SUITE_CLIENT_ID: oauthClientId,
    BATON_SUITE_CLIENT_SECRET: oauthClientSecret,
    BATON_SUITE_SCOPES: 'openid email profile offline_access',
    BATON_SUITE_AUTHORIZATION_PARAMS: 'prompt=consent',
  });
  const egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  const services = createTestServices(db, { clock, config, egress });
  try {
    const acme = await createTestTenant(services, { slug: 'acme' });
    const call = createCall(services, connectionOperations);
    const begun = await call(acme.contributor, 'connections_suite_oauth_url', { origins: [api.url] });
    const {
      code = '',
      state = '',
      iss = '',
    } = await provider.visit((begun as { authorization_url: string }).authorization_url);
    const connected = await call(acme.contributor, 'connections_suite_complete', { code, state, iss });
    const connectionId = (connected as { id: string }).id;
    const { tenantId, projectId } = acme;
    const requester = createHttpRequester(services);
    const send = () =>
      requester.send(
        {
          tenantId,
          projectId,
          method: 'GET',
          url: `${api.url}/mail`,
          headers: new Map(),
          body: null,
          credentials: { connectionId },
          followRedirects: true,
          response: 'auto',
          expects: status => status === 200,
        },
        { signal: new AbortController().signal },
      );
    const sent = () => api.seen.map(({ headers }) => headers.authorization);
    expect(await send()).toMatchObject({ kind: 'response' });
    expect(await send()).toMatchObject({ kind: 'response' });
    clock.advance(2 * HOUR_MS);
    expect(await send()).toMatchObject({ kind: 'response' });
    const [first, second, third] = sent();
    expect([first, second]).toEqual([expect.stringMatching(/^Bearer ./), first]);
    expect(third).toMatch(/^Bearer ./);
    expect(third).not.toBe(first);
    await provider.revoke();
    clock.advance(2 * HOUR_MS);
    expect(await send()).toMatchObject({ kind: 'failed', code: 'connection_expired', retryable: false });
    expect(api.seen).toHaveLength(3);
  } finally {
    await egress.close();
    await api.close();
    await provider.close();
    await db.close();
  }
});
