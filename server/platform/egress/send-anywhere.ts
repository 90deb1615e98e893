import type { Dispatcher } from 'undici';
import type { Outgoing } from './redirects.ts';

type Undici = Pick<typeof import('undici'), 'fetch'>;

/**
 * Sends one request with undici's fetch, to any port and with a body in any method. The Fetch standard blocks 80 ports (6000,
 * 6666, 10080 and others), because a web page must not reach what a visitor's browser can reach, and a body with GET. Here
 * the egress guard decides, so fetch gets an address and a method that it accepts, and the dispatcher the true ones.
 */
export async function sendAnywhere(undici: Undici, dispatcher: Dispatcher, request: Outgoing): Promise<Response> {
  const { url, method, headers, body, signal } = request;
  const shown = new URL(url);
  // That of the scheme, which is never blocked.
  shown.port = '';
  const response = await undici.fetch(shown, {
    method: method === 'GET' && body !== null ? 'POST' : method,
    headers: [...headers],
    body: body === null ? null : body.content,
    signal,
    redirect: 'manual',
    duplex: 'half',
    dispatcher: sendingTo(dispatcher, { origin: url.origin, method: method as Dispatcher.HttpMethod }),
  });
  Object.defineProperty(response, 'url', { value: withoutHash(url) });
  // The package's Response differs from the platform's only in its declaration.
  return response as unknown as Response;
}

/** Only `dispatch` is used by fetch. */
function sendingTo(dispatcher: Dispatcher, target: { origin: string; method: Dispatcher.HttpMethod }): Dispatcher {
  const dispatch: Dispatcher['dispatch'] = (options, handler) =>
    dispatcher.dispatch({ ...options, ...target }, handler);
  return { dispatch } as Dispatcher;
}

function withoutHash({ href, hash }: URL): string {
  return hash === '' ? href : href.slice(0, -hash.length);
}
