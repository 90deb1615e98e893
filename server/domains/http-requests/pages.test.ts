import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { HttpCall } from '../../orchestrator/steps/http-request/http-requester.ts';
import type { Pagination } from '../../orchestrator/steps/http-request/page-fields.ts';
import { requestPages } from '../../orchestrator/steps/http-request/pages.ts';
import { ManualClock } from '../../platform/clock.ts';
import { createEgress, type Egress } from '../../platform/egress/egress.ts';
import { json, type SeenRequest, startHttpServer, type TestHttpServer } from '../../testing/http-server.ts';
import { createTestServices } from '../../testing/identity.ts';
import { createTestDatabase, type TestDatabase } from '../../testing/postgres.ts';
import { createHttpRequester } from './requester.ts';

const KIB = 1024;
let db: TestDatabase;
let egress: Egress;
let api: TestHttpServer;
let requester: ReturnType<typeof createHttpRequester>;
/** The items of the server, which returns two on each page. */
let all: { id: number; text?: string }[] = [];
const SIZE = 2;

type Answer = (query: URLSearchParams) => object;
const answering =
  (answer: Answer) =>
  ({ path }: SeenRequest, response: Parameters<ReturnType<typeof json>>[1]) =>
    json(answer(new URL(path, 'http://server.test').searchParams))({} as SeenRequest, response);
const from = (at: number) => all.slice(at, at + SIZE);
const number = (query: URLSearchParams, name: string, fallback: number) => Number(query.get(name) ?? fallback);

beforeAll(async () => {
  db = await createTestDatabase();
  egress = createEgress({ allowPrivate: ['127.0.0.1/32'] });
  requester = createHttpRequester({ ...createTestServices(db, { clock: new ManualClock() }), egress });
  api = await startHttpServer({
    // As Stripe: the cursor is the id of the last item, and a flag says whether there is more.
    '/after': answering(query => {
      const at = all.findIndex(({ id }) => String(id) === query.get('starting_after')) + 1;
      return { data: from(at), has_more: at + SIZE < all.length };
    }),
    '/numbered': answering(query => {
      const at = (number(query, 'page', 1) - 1) * SIZE;
      return { items: from(at), pages: Math.ceil(all.length / SIZE), more: at + SIZE < all.length ? 'true' : 'false' };
    }),
    '/offset': answering(query => ({ items: from(number(query, 'offset', 0)), total: String(all.length) })),
    // As Google: the token is absent on the last page.
    '/token': answering(query => {
      const at = number(query, 'token', 0);
      return { items: from(at), ...(at + SIZE < all.length && { nextToken: String(at + SIZE) }) };
    }),
    '/stubborn': answering(() => ({ items: from(0) })),
    '/nested': answering(() => ({ items: from(0), meta: { next: null } })),
  });
});
afterAll(async () => {
  await api.close();
  await egress.close();
  await db.close();
});
beforeEach(() => {
  all = [1, 2, 3, 4, 5].map(id => ({ id }));
  api.seen.length = 0;
});

async function readPages(path: string, pagination: Pagination) {
  const call: HttpCall = {
    tenantId: 't',
    projectId: 'p',
    method: 'GET',
    url: `${api.url}${path}`,
    headers: new Map(),
    body: null,
    credentials: null,
    followRedirects: true,
    response: 'auto',
    expects: status => status === 200,
  };
  const found = await requestPages(requester, call, pagination, { signal: new AbortController().signal });
  if (found.kind === 'failed') return found;
  const { items, pages, more, next } = found.pages;
  return { ids: items.map(item => (item as { id: number }).id), pages, more, next, note: found.note };
}
const requestedPaths = () => api.seen.map(({ path }) => path);
const everything = { ids: [1, 2, 3, 4, 5], pages: 3, more: false };

describe('pages follow each other', () => {
  const last = { query: { starting_after: '{{response.last_item.id}}' }, items: 'data' };

  test('by the last item and a flag', async () => {
    const flag = { has_more: '{{response.body.has_more}}' };
    expect(await readPages('/after?limit=2', { ...last, ...flag })).toMatchObject(everything);
    expect(requestedPaths()).toEqual(
      ['', '&starting_after=2', '&starting_after=4'].map(more => `/after?limit=2${more}`),
    );
    const next = '/after?starting_after={{response.last_item.id}}';
    expect(await readPages('/after', { next, items: 'data', ...flag })).toMatchObject(everything);
  });

  test('by the last item without a flag, until a page is empty', async () => {
    expect(await readPages('/after', last)).toMatchObject({ ...everything, pages: 4 });
  });

  test.each<[string, Pagination, string[]]>([
    ['until one is empty', { page: {} }, ['1', '2', '3', '4']],
    ['until one is not full', { page: { size: 2 } }, ['1', '2', '3']],
    ['until the last', { page: { last: '{{response.body.pages}}' } }, ['1', '2', '3']],
    ['by a flag that is text', { page: {}, has_more: '{{response.body.more}}' }, ['1', '2', '3']],
  ])('by their number, %s', async (_, pagination, pages) => {
    expect(await readPages('/numbered?per_page=2&page=9', { items: 'items', ...pagination })).toMatchObject({
      ...everything,
      pages: pages.length,
    });
    expect(requestedPaths()).toEqual(pages.map(page => `/numbered?per_page=2&page=${page}`));
  });

  test.each<[string, Pagination, string[]]>([
    ['until one is empty', { offset: {} }, ['0', '2', '4', '5']],
    ['until one is not full', { offset: { size: 2 } }, ['0', '2', '4']],
    ['until all are there, a number as text', { offset: { total: '{{response.body.total}}' } }, ['0', '2', '4']],
  ])('by the number of items before, %s', async (_, pagination, pages) => {
    const found = await readPages('/offset', { items: 'items', ...pagination });
    expect(found).toMatchObject({ ...everything, pages: pages.length });
    expect(requestedPaths()).toEqual(pages.map(offset => `/offset?offset=${offset}`));
  });

  test('from another first number, and with another parameter name', async () => {
    expect(await readPages('/offset', { offset: { parameter: 'skip', first: 3 }, items: 'items' })).toMatchObject({
      code: 'pagination_loop',
    });
    expect(requestedPaths()).toEqual(['/offset?skip=3', '/offset?skip=5']);
  });

  test('by a token that the last page does not have', async () => {
    const pagination = { query: { token: '{{response.body.nextToken}}' }, items: 'items' };
    expect(await readPages('/token', pagination)).toMatchObject(everything);
    all = all.slice(0, 1);
    const optional = { query: { token: '{{response.body.nextToken ?? null}}' }, items: 'items' };
    expect(await readPages('/token', optional)).toMatchObject({ ids: [1], pages: 1, more: false });
    all = [];
    expect(await readPages('/token', pagination)).toMatchObject({ ids: [], pages: 1, more: false });
  });
});

describe('a template that no page resolves is a mistake', () => {
  test.each<[string, Pagination]>([
    ['/token', { next: '{{response.body.nextTokn}}' }],
    ['/token', { next: '?token={{response.body.meta.next}}' }],
    ['/after', { query: { starting_after: '{{response.last_item.key}}' }, items: 'data' }],
    [
      '/after',
      { query: { starting_after: '{{response.last_item.id}}' }, items: 'data', has_more: '{{response.body.more}}' },
    ],
    ['/numbered', { page: { last: '{{response.headers.x-total-pages}}' } }],
    ['/numbered', { page: {}, has_more: '{{response.links.nxt}}' }],
    ['/offset', { offset: { total: '{{response.body.count}}' } }],
  ])('%s %j', async (path, pagination) => {
    expect(await readPages(path, { items: 'items', ...pagination })).toMatchObject({
      code: 'pagination_unresolved',
      message: expect.stringContaining('?? null}}'),
    });
    expect(requestedPaths()).toHaveLength(1);
  });

  test('null, false, "" and a missing link end the pages', async () => {
    const one = { ids: [1, 2], pages: 1, more: false };
    expect(await readPages('/nested', { next: '{{response.body.meta.next}}', items: 'items' })).toMatchObject(one);
    expect(await readPages('/nested', { next: '{{response.links.next}}', items: 'items' })).toMatchObject(one);
  });

  test('an invalid number, or a repeated page', async () => {
    expect(await readPages('/numbered', { page: { last: '{{response.body.items}}' }, items: 'items' })).toMatchObject({
      code: 'pagination_next_invalid',
    });
    expect(await readPages('/stubborn', { page: {}, items: 'items' })).toMatchObject({ code: 'pagination_loop' });
    expect(await readPages('/stubborn', { offset: {}, items: 'items' })).toMatchObject({ code: 'pagination_loop' });
  });
});

describe('pages that are not read', () => {
  test('beyond max_pages: the result says where to continue', async () => {
    const pagination = { page: { size: 2 }, items: 'items' };
    const begun = await readPages('/numbered', { ...pagination, max_pages: 2 });
    expect(begun).toMatchObject({ ids: [1, 2, 3, 4], pages: 2, more: true, next: `${api.url}/numbered?page=3` });
  });

  test('beyond 1 MiB: nothing that was read is lost, and the log says so', async () => {
    all = [1, 2, 3, 4, 5, 6, 7, 8].map(id => ({ id, text: 'x'.repeat(200 * KIB) }));
    const found = await readPages('/numbered', { page: {}, items: 'items' });
    expect(found).toMatchObject({ ids: [1, 2, 3, 4], pages: 2, more: true, next: `${api.url}/numbered?page=3` });
    expect(found).toMatchObject({ note: expect.stringContaining('2 pages with 4 items were read') });
  });

  test('a first page that is too large alone fails', async () => {
    all = [1, 2].map(id => ({ id, text: 'x'.repeat(523 * KIB) }));
    expect(await readPages('/numbered', { page: {}, items: 'items' })).toMatchObject({ code: 'response_too_large' });
  });
});
