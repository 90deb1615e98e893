import { expect, test } from 'vitest';
import { proxyNotice, startupBanner } from './startup-banner.ts';

const url = 'http://127.0.0.1:3000';

test('a later start shows only the URL of the service', () => {
  expect(startupBanner(url, { created: false }).trim()).toBe(`Baton is ready at ${url}`);
});

test('a first start shows the created owner, password and token', () => {
  const text = startupBanner(url, { created: true, tenantId: 'main', email: 'a@b.c', password: 'pw', pat: 'pat_x' });
  for (const part of ['a@b.c', 'pw', 'pat_x', `${url}/sign-in`, 'shown this once']) expect(text).toContain(part);
});

test('a first start with a configured owner shows no password', () => {
  expect(startupBanner(url, { created: true, tenantId: 'main', email: 'a@b.c' })).not.toContain('shown this once');
});

test('a start without an owner shows the link to set one up', () => {
  expect(startupBanner(url, { created: false, setupToken: 'token' })).toMatch(/\/setup[\s\S]*token/);
});

test('a data folder other than the configured one is named at every start', () => {
  expect(startupBanner(url, { created: false }, '/var/lib/baton/x')).toContain('Its data is in /var/lib/baton/x\n');
  expect(startupBanner(url, { created: false })).not.toContain('data');
});

test.each([
  ['http://127.0.0.1:3000', 0, false],
  ['http://192.0.2.1:3000', 0, false],
  ['https://baton.example.com', 0, true],
  ['http://baton.example.com', 0, true],
  ['https://baton.example.com', 1, false],
])('%s with %d trusted proxies warns that all clients have one address: %s', (address, trustedProxies, warned) => {
  const notice = proxyNotice({ url: address, port: 3000, trustedProxies });
  expect(notice !== null).toBe(warned);
  expect(startupBanner(address, { created: false }, undefined, notice).includes('BATON_TRUSTED_PROXIES')).toBe(warned);
});
