import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ManualClock } from '../../server/platform/clock.ts';
import { startTestContainer, type TestContainer } from '../../server/testing/container.ts';
import { loadMeIfAny, setupRequired } from './load-me.ts';

// Mocks Next's request: a visitor without a session.
vi.mock('next/headers', () => ({
  headers: async () => new Headers({ 'x-baton-client-address': '192.0.2.7' }),
  cookies: async () => ({ get: () => undefined }),
}));

let service: TestContainer;
beforeAll(async () => {
  const env = { BATON_RATE_LIMIT_UNAUTHENTICATED_PER_MINUTE: '2' };
  // The clock stands still, so that the minute of the limit never ends.
  service = await startTestContainer(env, { clock: new ManualClock() });
});
afterAll(() => service.close());

test('a visitor over the limit is loaded as nobody, with the reason, and nothing throws', async () => {
  expect(await loadMeIfAny()).toEqual({ me: null, limited: false });
  await loadMeIfAny();
  expect(await loadMeIfAny()).toEqual({ me: null, limited: true });
  expect(await setupRequired()).toBe(false);
});
