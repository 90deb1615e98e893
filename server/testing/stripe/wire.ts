import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Form, readForm } from './form.ts';
import { answer } from './routes.ts';
import { StripeFault, type StripeWorld } from './world.ts';

export type StripeRequest = { method: string; path: string; form: Form; idempotencyKey: string | null };
/**
 * The fault of a request: it never arrives, its answer is lost although it was executed, or it is answered with a
 * status.
 */
export type Mishap = 'unreachable' | 'answer_lost' | 429 | 500;

const version = '2026-10-28.endive';
export const testStripe = {
  secretKey: 'sk_test_baton_0123456789abcdef',
  publishableKey: 'pk_test_baton_0123456789abcdef',
  webhookSecret: 'whsec_baton_0123456789abcdef',
};

type Kept = { fingerprint: string; status: number; body: string };

export type StripeWire = {
  server: Server;
  /** Every request that was executed, in order. */
  requests: StripeRequest[];
  /** The faults of the next requests that match. */
  mishap(kind: Mishap, match?: Partial<Pick<StripeRequest, 'method' | 'path'>>, times?: number): void;
  /** While the server is down, no connection is answered. */
  down(isDown: boolean): void;
};

/** Serves a world in Stripe's wire format: keys, versions, idempotency, errors, and the faults of requests. */
export function createStripeWire(world: StripeWorld): StripeWire {
  const requests: StripeRequest[] = [];
  const kept = new Map<string, Kept>();
  const mishaps: { kind: Mishap; match: Partial<StripeRequest>; times: number }[] = [];
  let isDown = false;

  const mishapOf = (request: StripeRequest): Mishap | null => {
    const found = mishaps.find(
      ({ match, times }) =>
        times > 0 &&
        (match.method ?? request.method) === request.method &&
        (match.path === undefined || request.path.startsWith(match.path)),
    );
    if (!found) return null;
    found.times -= 1;
    return found.kind;
  };

  const server = createServer((incoming, response) => {
    void respond(incoming, response).catch((error: unknown) => {
      response.writeHead(500).end(JSON.stringify({ error: { type: 'api_error', message: String(error) } }));
    });
  });

  async function respond(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const url = new URL(incoming.url ?? '/', 'http://stripe.test');
    const method = incoming.method ?? 'GET';
    const body = Buffer.concat(chunks).toString('utf8');
    const request: StripeRequest = {
      method,
      path: url.pathname,
      form: readForm(method === 'GET' || body === '' ? url.search.slice(1) : body),
      idempotencyKey: incoming.headers['idempotency-key']?.toString() ?? null,
    };
    const mishap = isDown ? 'unreachable' : mishapOf(request);
    if (mishap === 'unreachable') return void incoming.socket.destroy();
    const result =
      typeof mishap === 'number'
        ? failure(mishap)
        : (refusal(incoming) ?? perform(request, `${method} ${incoming.url} ${body}`));
    if (mishap === 'answer_lost') return void incoming.socket.destroy();
    response.writeHead(result.status, {
      'Content-Type': 'application/json',
      'Request-Id': `req_${requests.length}`,
      'Stripe-Version': version,
      // Stripe marks errors that must not be retried in this way.
      ...(typeof mishap === 'number' && { 'Stripe-Should-Retry': 'false' }),
    });
    response.end(result.body);
  }

  function perform(request: StripeRequest, fingerprint: string): { status: number; body: string } {
    const { method, path, form, idempotencyKey: key } = request;
    const before = key === null ? undefined : kept.get(key);
    if (before !== undefined) {
      if (before.fingerprint === fingerprint) return before;
      return errorAnswer(
        new StripeFault(400, {
          type: 'idempotency_error',
          message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
        }),
      );
    }
    requests.push(request);
    try {
      const result = { status: 200, body: JSON.stringify(answer(world, method, path, form)) };
      if (key !== null && method === 'POST') kept.set(key, { fingerprint, ...result });
      return result;
    } catch (error) {
      if (error instanceof StripeFault) return errorAnswer(error);
      throw error;
    }
  }

  return {
    server,
    requests,
    mishap: (kind, match = {}, times = 1) => void mishaps.push({ kind, match, times }),
    down: value => {
      isDown = value;
    },
  };
}

/** Returns what is wrong with a request's headers: the key, or the API version. */
function refusal({ headers }: IncomingMessage): { status: number; body: string } | null {
  if (headers.authorization !== `Bearer ${testStripe.secretKey}`)
    return errorAnswer(
      new StripeFault(401, { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_****' }),
    );
  if (headers['stripe-version'] !== version)
    return errorAnswer(
      new StripeFault(400, {
        type: 'invalid_request_error',
        message: `Invalid Stripe API version: ${headers['stripe-version']}`,
      }),
    );
  return null;
}

function failure(status: 429 | 500): { status: number; body: string } {
  return status === 429
    ? errorAnswer(
        new StripeFault(429, { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' }),
      )
    : errorAnswer(new StripeFault(500, { type: 'api_error', message: 'Something went wrong' }));
}

const errorAnswer = ({ status, error }: StripeFault) => ({ status, body: JSON.stringify({ error }) });
