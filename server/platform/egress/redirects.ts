/** A request as it is sent, at one hop. */
export type Outgoing = {
  url: URL;
  method: string;
  headers: Headers;
  /** A stream can be sent only once; bytes can be sent again after a redirect. */
  body: { content: Uint8Array<ArrayBuffer>; replayable: true } | { content: ReadableStream; replayable: false } | null;
  signal: AbortSignal;
  redirect: RequestRedirect;
};

/** A request that was redirected more often than is allowed. The message names the host. */
export class TooManyRedirects extends TypeError {
  readonly code = 'too_many_redirects';
  constructor(host: string, allowed: number) {
    super(`"${host}" redirected more than ${allowed} times.`);
    this.name = 'TooManyRedirects';
  }
}

/**
 * The headers that a request keeps when it is redirected to another origin. A list of headers to remove would miss some: with
 * `auth_mode: header` a credential may have any name.
 */
const carriedAcrossOrigins = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'cache-control',
  'content-encoding',
  'content-language',
  'content-type',
  'mcp-protocol-version',
  'traceparent',
  'user-agent',
]);

/** Reads all arguments of the platform's fetch. Throws TypeError as its Request does. */
export async function readRequest(
  url: URL,
  input: RequestInfo | URL,
  init: RequestInit | undefined,
): Promise<Outgoing> {
  // Request parses everything except the address, which was already checked and which an error of Request would repeat.
  const isRequest = input instanceof Request;
  // Request refuses a GET with a body, but some search APIs expect one.
  const isGetWithBody = !isRequest && init?.body != null && (init.method ?? 'GET').toUpperCase() === 'GET';
  const given = isGetWithBody ? { ...init, method: 'POST' } : init;
  const request = new Request(isRequest ? input : 'http://host.invalid', given);
  return {
    url,
    method: isGetWithBody ? 'GET' : request.method,
    headers: request.headers,
    body: await readBody(request, init?.body instanceof ReadableStream),
    signal: request.signal,
    redirect: request.redirect,
  };
}

async function readBody(request: Request, streamed: boolean): Promise<Outgoing['body']> {
  if (request.body === null) return null;
  if (streamed) return { content: request.body, replayable: false };
  return { content: new Uint8Array(await request.arrayBuffer()), replayable: true };
}

export function isRedirect({ status }: Response): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Returns whether a redirect is followed with a GET: the server has processed the request, and names where to read the result. */
export function becomesGet(method: string, status: number): boolean {
  return status === 303 ? method !== 'HEAD' : (status === 301 || status === 302) && method === 'POST';
}

const redirected = new WeakMap<object, Response>();

/** Notes that `outcome`, a response or an error, came after `redirect`, which answered a request that changes something. */
export function noteRedirect(outcome: Response | Error, redirect: Response): void {
  redirected.set(outcome, redirect);
}

/**
 * Returns the redirect with which a server answered a request before the GET that followed ended in `outcome`; undefined if there
 * was none. After such a redirect the request has been processed, even if the GET failed.
 */
export function redirectBefore(outcome: unknown): Response | undefined {
  return typeof outcome === 'object' && outcome !== null ? redirected.get(outcome) : undefined;
}

/**
 * Returns the request that follows a redirect (Fetch standard, HTTP-redirect fetch): 303, and 301 or 302 after a POST,
 * become a GET; credentials are not sent to another origin. Throws TypeError if the body cannot be sent again.
 */
export function carryOver(request: Outgoing, status: number, url: URL): Outgoing {
  const headers = new Headers(request.headers);
  if (url.origin !== request.url.origin) {
    for (const name of [...headers.keys()]) if (!carriedAcrossOrigins.has(name)) headers.delete(name);
  }
  if (becomesGet(request.method, status)) {
    for (const name of [...headers.keys()]) if (name.startsWith('content-')) headers.delete(name);
    return { ...request, url, headers, method: 'GET', body: null };
  }
  if (request.body !== null && !request.body.replayable) {
    throw new TypeError(
      `"${request.url.host}" redirected a request whose body was a stream, which cannot be sent again.`,
    );
  }
  return { ...request, url, headers };
}
