import type { Dispatcher } from 'undici';
import type { Outgoing } from './redirects.ts';

type Undici = Pick<typeof import('undici'), 'fetch'>;

/** The highest port that the Fetch standard blocks ("port blocking"). */
const HIGHEST_BLOCKED_PORT = 10_080;

/**
 * Sends one request with undici's fetch, to any port and with a body in any method. The Fetch standard blocks a GET with a body,
 * and 80 ports (6000, 6666, 10080 and others), because a web page must not reach every service that a visitor's browser can
 * reach. Here the egress guard decides.
 */
export async function sendAnywhere(undici: Undici, dispatcher: Dispatcher, request: Outgoing): Promise<Response> {
  const { url, method, body } = request;
  const mayBeBlocked = url.port !== '' && Number(url.port) <= HIGHEST_BLOCKED_PORT;
  if (mayBeBlocked || (method === 'GET' && body !== null)) return sendDisguised(undici, dispatcher, request);
  return send(undici, { ...request, dispatcher });
}

/** Gives fetch an address and a method that it accepts, and gives the dispatcher the real ones. */
async function sendDisguised(undici: Undici, dispatcher: Dispatcher, request: Outgoing): Promise<Response> {
  const { url, method, body } = request;
  const shown = new URL(url);
  // The default port of the scheme, which is never blocked.
  shown.port = '';
  const response = await send(undici, {
    ...request,
    url: shown,
    method: method === 'GET' && body !== null ? 'POST' : method,
    dispatcher: sendingTo(dispatcher, { origin: url.origin, method: method as Dispatcher.HttpMethod }),
  });
  Object.defineProperty(response, 'url', { value: withoutHash(url) });
  return response;
}

type Sent = Omit<Outgoing, 'redirect'> & { dispatcher: Dispatcher };

async function send(undici: Undici, { url, method, headers, body, signal, dispatcher }: Sent): Promise<Response> {
  const response = await undici.fetch(url, {
    method,
    headers: [...headers],
    body: body === null ? null : body.content,
    signal,
    redirect: 'manual',
    duplex: 'half',
    dispatcher,
  });
  // The package's Response differs from the platform's only in its declaration.
  return response as unknown as Response;
}

/** Returns a dispatcher for the real target. fetch uses only `dispatch`. */
function sendingTo(dispatcher: Dispatcher, target: { origin: string; method: Dispatcher.HttpMethod }): Dispatcher {
  const dispatch: Dispatcher['dispatch'] = (options, handler) =>
    dispatcher.dispatch({ ...options, ...target }, handler);
  return { dispatch } as Dispatcher;
}

function withoutHash({ href, hash }: URL): string {
  return hash === '' ? href : href.slice(0, -hash.length);
}
