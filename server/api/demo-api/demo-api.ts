import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type DemoOrder, demoApiPath, demoOrders } from '../../operation/demo-api.ts';
import { AppError, badRequest, forbidden, notFound } from '../../platform/errors.ts';
import { newRequestId } from '../../platform/ids.ts';
import { type DemoCallers, foreignReason } from '../demo-callers.ts';
import { errorBody } from '../failure.ts';
import { type ApiRequest, type ApiResponse, protectiveHeaders } from '../request.ts';

const PAGE_SIZE = 4;
const MAX_PAGE = 1_000;
const MAX_BODY_BYTES = 16 * 1024;
const MAX_KEY_LENGTH = 255;

/** The HTTP API that comes with Baton, for trying `http_request` steps. Never rejects. */
export type DemoApi = (request: ApiRequest) => Promise<ApiResponse>;

const Page = z.coerce.number().int().min(1).max(MAX_PAGE);
const Shipment = z.object({ service: z.enum(['standard', 'express']).default('standard') });

/** Returns whether the demo API answers this target. */
export function isDemoApiPath(url: string | undefined): boolean {
  return url === demoApiPath || (url?.startsWith(`${demoApiPath}/`) ?? false);
}

/**
 * Creates an API with a list of orders in two pages, each order, and shipments of them. It needs no credentials,
 * ignores any that are sent, and neither stores nor calls anything: the same request gets the same answer.
 */
export function createDemoApi(allowed: DemoCallers): DemoApi {
  return async request => {
    const headers = { ...protectiveHeaders, 'Content-Type': 'application/json; charset=utf-8' };
    try {
      const refusal = foreignReason(request.header, allowed);
      if (refusal !== null) throw forbidden(refusal);
      const { status, body } = await answerTo(request);
      return { status, headers, body: JSON.stringify(body) };
    } catch (thrown) {
      const error = thrown instanceof AppError ? thrown : new AppError(500, 'internal_error', 'The demo API failed.');
      const body = JSON.stringify(errorBody(error, newRequestId()));
      return { status: error.status, headers: { ...headers, ...error.headers }, body };
    }
  };
}

type Answer = { status: number; body: object };

async function answerTo(request: ApiRequest): Promise<Answer> {
  const path = request.pathname.slice(demoApiPath.length);
  if (path === '/orders') return listOrders(requireMethod('GET', request));
  const [, id, shipments] = /^\/orders\/([^/]+)(\/shipments)?$/.exec(path) ?? [];
  const order = demoOrders.find(each => each.id === id);
  if (order === undefined) throw notFound('Resource');
  if (shipments !== undefined) return shipOrder(order, requireMethod('POST', request));
  requireMethod('GET', request);
  return { status: 200, body: order };
}

function requireMethod(method: 'GET' | 'POST', request: ApiRequest): ApiRequest {
  if (request.method === method) return request;
  const headers = { Allow: method };
  throw new AppError(405, 'method_not_allowed', `Only ${method} is allowed here.`, { headers });
}

function listOrders({ search }: ApiRequest): Answer {
  const page = Page.safeParse(new URLSearchParams(search).get('page') ?? '1');
  if (!page.success) throw badRequest(`page is a number from 1 to ${MAX_PAGE}.`, 'invalid_page');
  const end = page.data * PAGE_SIZE;
  const next = end < demoOrders.length ? `${demoApiPath}/orders?page=${page.data + 1}` : null;
  return { status: 200, body: { orders: demoOrders.slice(end - PAGE_SIZE, end), page: page.data, next } };
}

async function shipOrder(order: DemoOrder, request: ApiRequest): Promise<Answer> {
  const key = request.header('idempotency-key') ?? '';
  if (key.length > MAX_KEY_LENGTH) {
    throw badRequest(`Idempotency-Key has at most ${MAX_KEY_LENGTH} characters.`, 'invalid_idempotency_key');
  }
  const shipment = Shipment.safeParse(parseJsonBody(await request.body(MAX_BODY_BYTES)));
  if (!shipment.success) {
    throw badRequest('The body is a JSON object; its service is "standard" or "express".', 'invalid_body');
  }
  const { id: order_id, address } = order;
  if (address === null) throw new AppError(422, 'no_address', `Order ${order_id} has no delivery address.`);
  // A retried step sends the same key. A shipment that is derived from it is the same again, without any storage.
  const digest = createHash('sha256')
    .update(JSON.stringify([order_id, key]))
    .digest('hex');
  const shipment_id = `SHP-${digest.slice(0, 8).toUpperCase()}`;
  return { status: 201, body: { shipment_id, order_id, service: shipment.data.service, address, status: 'created' } };
}

/** Returns the value of JSON, `{}` for no body, and undefined for anything else. */
function parseJsonBody(body: Uint8Array): unknown {
  try {
    return body.byteLength === 0 ? {} : JSON.parse(Buffer.from(body).toString('utf8'));
  } catch {
    return undefined;
  }
}
