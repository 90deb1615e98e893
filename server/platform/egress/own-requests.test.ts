import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { json, startHttpServer, type TestHttpServer } from '../../testing/http-server.ts';
import { newId } from '../ids.ts';
import { createLineageSeal, LINEAGE_HEADER, sealedLineage, withLineage } from '../lineage.ts';
import { createEgress, type Egress } from './egress.ts';

const seal = createLineageSeal(Buffer.alloc(32, 1));
const lineage = { tenantId: 'acme', root: newId(), depth: 2 };
let own: TestHttpServer;
let other: TestHttpServer;

beforeAll(async () => {
  const redirects = (to: () => string) => (_: unknown, response: import('node:http').ServerResponse) =>
    void response.writeHead(307, { location: to() }).end();
  other = await startHttpServer({ '/ok': json({}), '/back': redirects(() => `${own.url}/ok`) });
  own = await startHttpServer({ '/ok': json({}), '/away': redirects(() => `${other.url}/ok`) });
});
afterAll(async () => {
  await own.close();
  await other.close();
});

function egress(): Egress {
  const self = { origins: [own.url], lineage: () => sealedLineage(seal) };
  const made = createEgress({ allowPrivate: ['127.0.0.1/32'], self });
  onTestFinished(() => made.close());
  return made;
}
/** Returns the header of each request that the fetch caused, in the order of `servers`. */
async function sent(url: string, headers: Record<string, string>, by: typeof lineage | null = lineage) {
  const before = [own.seen.length, other.seen.length];
  await withLineage(by, async () => (await egress().fetch(url, { headers })).text());
  const lineageHeaders = (server: TestHttpServer, from = 0) =>
    server.seen.slice(from).map(seen => seen.headers[LINEAGE_HEADER]);
  return { own: lineageHeaders(own, before[0]), other: lineageHeaders(other, before[1]) };
}
const genuine = seal.seal(lineage);

test('a run’s request to this service names the run, and a request to another server does not', async () => {
  expect(await sent(`${own.url}/ok`, {})).toEqual({ own: [genuine], other: [] });
  expect(await sent(`${other.url}/ok`, {})).toEqual({ own: [], other: [undefined] });
  expect(await sent(`${own.url}/ok`, {}, null)).toEqual({ own: [undefined], other: [] });
});

test('a redirect away from this service drops the header, and a redirect to this service adds it', async () => {
  expect(await sent(`${own.url}/away`, {})).toEqual({ own: [genuine], other: [undefined] });
  expect(await sent(`${other.url}/back`, {})).toEqual({ own: [genuine], other: [undefined] });
});

test.each(['baton-lineage', 'Baton-Lineage'])('a header that an author sets is never sent: %s', async name => {
  const given = { [name]: seal.seal({ ...lineage, depth: 0 }) };
  expect(await sent(`${own.url}/ok`, given)).toEqual({ own: [genuine], other: [] });
  expect(await sent(`${own.url}/ok`, given, null)).toEqual({ own: [undefined], other: [] });
  expect(await sent(`${other.url}/back`, given)).toEqual({ own: [genuine], other: [undefined] });
});
