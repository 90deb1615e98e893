import { once } from 'node:events';
import { createServer, request as httpRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { demoApiAddresses, demoOrders } from '../../operation/demo-api.ts';
import { createEgress, EgressRefused } from '../../platform/egress/egress.ts';
import { freePort } from '../../platform/postgres/free-port.ts';
import { startTestContainer, type TestContainer } from '../../testing/container.ts';
import { serveSurfaces } from '../node-http.ts';
import { isDemoApiPath } from './demo-api.ts';

let service: TestContainer;
let api: string;
beforeAll(async () => {
  service = await startTestContainer({ BATON_DEMO_MCP: 'true' });
  api = `${service.url}/demo/api`;
});
afterAll(() => service.close());

async function call(path: string, init: RequestInit = {}) {
  const response = await fetch(`${api}${path}`, init);
  return { status: response.status, allow: response.headers.get('allow'), body: await response.json() };
}

const ship = (id: string, key: string | null, body: string | null = '{}') =>
  call(`/orders/${id}/shipments`, { method: 'POST', body, headers: key === null ? {} : { 'Idempotency-Key': key } });

/** fetch sets Host itself; a rebinding browser sends the attacker's name. */
function statusOf(headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(`${api}/orders`, { headers }, response => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end();
  });
}

describe('the demo API', () => {
  test('lists its orders in two pages, of which the last has no next', async () => {
    const first = await call('/orders');
    expect(first).toMatchObject({ status: 200, body: { page: 1, next: '/demo/api/orders?page=2' } });
    const second = await call('/orders?page=2');
    expect(second).toMatchObject({ status: 200, body: { page: 2, next: null } });
    expect([...first.body.orders, ...second.body.orders]).toEqual(demoOrders);
    expect(await call('/orders?page=3')).toMatchObject({ status: 200, body: { orders: [], next: null } });
    for (const page of ['0', '-1', '1.5', 'x', '', '1001', '%00']) {
      expect(await call(`/orders?page=${page}`)).toMatchObject({ status: 400, body: { code: 'invalid_page' } });
    }
  });

  test('returns one order', async () => {
    expect(await call('/orders/1003')).toMatchObject({ status: 200, body: demoOrders[2] });
    for (const path of ['', '/', '/orders/', '/orders/9', '/orders/%31001', '/orders/1001/', '/orders/1001/x']) {
      expect(await call(path), path).toMatchObject({ status: 404, body: { code: 'not_found' } });
    }
  });

  test('returns the same shipment to a second attempt of a step', async () => {
    const first = await ship('1001', 'run-1:ship');
    const shipment = { order_id: '1001', service: 'standard', address: 'Elm Street 4, Lund', status: 'created' };
    expect(first).toMatchObject({ status: 201, body: { shipment_id: expect.stringMatching(/^SHP-/), ...shipment } });
    expect(await ship('1001', 'run-1:ship')).toEqual(first);
    const idOf = ({ body }: typeof first) => body.shipment_id;
    expect(idOf(await ship('1001', 'run-2:ship'))).not.toBe(idOf(first));
    expect(idOf(await ship('1002', 'run-1:ship'))).not.toBe(idOf(first));
    expect(await ship('1001', null, null)).toMatchObject({ status: 201 });
    expect(await ship('1001', null, '{"service":"express"}')).toMatchObject({ body: { service: 'express' } });
    expect(await ship('1004', 'k')).toMatchObject({ status: 422, body: { code: 'no_address' } });
  });

  test('refuses other methods, and bodies and keys that are malformed or too large', async () => {
    expect(await call('/orders', { method: 'POST', body: '{}' })).toMatchObject({ status: 405, allow: 'GET' });
    expect(await call('/orders/1001', { method: 'DELETE' })).toMatchObject({ status: 405, allow: 'GET' });
    expect(await call('/orders/1001/shipments')).toMatchObject({ status: 405, allow: 'POST' });
    for (const body of ['{', '[]', '"x"', 'null', '{"service":"rocket"}']) {
      expect(await ship('1001', null, body), body).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    }
    const large = JSON.stringify({ filler: 'x'.repeat(500_000) });
    expect(await ship('1001', null, large)).toMatchObject({ status: 413, body: { code: 'body_too_large' } });
    expect(await ship('1001', 'k'.repeat(256))).toMatchObject({ status: 400 });
    expect(await ship('1001', 'k'.repeat(255))).toMatchObject({ status: 201 });
  });

  test('refuses other sites and other names', async () => {
    expect(await statusOf({})).toBe(200);
    expect(await statusOf({ origin: service.url })).toBe(200);
    expect(await statusOf({ host: 'evil.example' })).toBe(403);
    expect(await statusOf({ origin: 'https://evil.example' })).toBe(403);
    expect(await statusOf({ origin: 'null' })).toBe(403);
  });

  test('is off if the demo MCP server is', async () => {
    const off = await startTestContainer({ BATON_DEMO_MCP: 'false' });
    expect(off.container.demoApi).toBeNull();
    expect((await fetch(`${off.url}/demo/api/orders`)).status).toBe(404);
    await off.close();
    expect(['/demo/api', '/demo/api/', '/demo/api/x?y'].map(isDemoApiPath)).toEqual([true, true, true]);
    expect(['/demo/apis', '/demo', '//demo/api', '/v1/demo/api'].some(isDemoApiPath)).toBe(false);
    const request = Object.assign(new IncomingMessage(new Socket()), { url: '/demo/api/orders' });
    const without = { ...service.container, demoApi: null };
    expect(serveSurfaces(without, request, new ServerResponse(request), 0)).toBeNull();
  });
});

describe('its addresses', () => {
  const http = { host: '0.0.0.0', port: 3999, url: 'https://baton.example' };
  const own = 'http://127.0.0.1:3999';

  test('are the only ones of this machine that may be called', async () => {
    const egress = createEgress({ allowPrivate: [], exempt: demoApiAddresses(http) });
    for (const path of ['/orders', '/orders?page=2', '/orders/1001', '/orders/1001/shipments', '/x/../orders']) {
      await egress.check(`${own}/demo/api${path}`);
      await egress.check(`http://localhost:3999/demo/api${path}`);
    }
    const near = ['', '/', '/orders/', '/orders/..', '/orders/9', '/orders/1001/x', '/orders/1001/shipments/..'];
    const past = ['/../../v1/me', '/orders/%2e%2e/%2e%2e/%2e%2e/v1/me', '/orders/%2e%2e%2f', '/orders/..%2f..%2fv1'];
    const refused = [...near, ...past].map(path => `${own}/demo/api${path}`);
    const elsewhere = ['http://127.0.0.1:4000', 'https://127.0.0.1:3999', 'http://127.0.0.2:3999', 'http://[::1]:3999'];
    for (const url of [...refused, ...elsewhere.map(origin => `${origin}/demo/api/orders`), `${own}/v1/me`]) {
      await expect(egress.check(url), url).rejects.toBeInstanceOf(EgressRefused);
    }
    await egress.close();
  });

  test('can be called through the egress guard of the service', async () => {
    const port = await freePort();
    const { container, close } = await startTestContainer({ BATON_DEMO_MCP: 'true', PORT: String(port) });
    const server = createServer((request, response) => void serveSurfaces(container, request, response, 0));
    await once(server.listen(port, '127.0.0.1'), 'listening');
    const { egress } = container.services;
    const url = `http://127.0.0.1:${port}/demo/api/orders`;
    expect(await (await egress.fetch(url)).json()).toMatchObject({ page: 1 });
    await expect(egress.fetch(url.replace('/demo/api/orders', '/v1/me'))).rejects.toBeInstanceOf(EgressRefused);
    server.closeAllConnections();
    server.close();
    await close();
  });
});
