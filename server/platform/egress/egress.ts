import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import type { Agent, Dispatcher } from 'undici';
import { LINEAGE_HEADER } from '../lineage.ts';
import { type AllowList, hostOf, mayConnect, parseAllowList } from './addresses.ts';
import {
  becomesGet,
  carryOver,
  isRedirect,
  noteRedirect,
  type Outgoing,
  readRequest,
  TooManyRedirects,
} from './redirects.ts';
import { sendAnywhere } from './send-anywhere.ts';
import { skippingContinue } from './skip-continue.ts';

/**
 * The only way out of the process: every request to an address that a user named goes through here
 * (docs/specification/connections.md#outbound-requests). It resolves the name, refuses private addresses, and connects
 * to exactly the address that it checked, again at every redirect.
 */
export type Egress = {
  /**
   * Sends like the global fetch, but to any port, and a GET may have a body. Rejects with EgressRefused, or with fetch's own
   * TypeError for failures of the network.
   */
  readonly fetch: typeof globalThis.fetch;
  /**
   * Checks whether `url` may be called: its scheme, credentials in it, literal addresses, and what its name resolves to
   * now. Rejects with EgressRefused.
   */
  check(url: string | URL): Promise<void>;
  /** Closes idle connections that were kept for reuse. */
  close(): Promise<void>;
};

/** The refusal of a request. The message names the host and the rule, never an address to which a name resolved. */
export class EgressRefused extends Error {
  readonly code = 'egress_refused';
  constructor(message: string) {
    super(message);
    this.name = 'EgressRefused';
  }
}

/**
 * Returns why `url` may not be called; null if it may be called, or if its name cannot be resolved now. A host may be set up
 * after the URL is saved, and every request is checked again.
 */
export async function egressRefusal(egress: Pick<Egress, 'check'>, url: string): Promise<EgressRefused | null> {
  try {
    await egress.check(url);
  } catch (error) {
    if (error instanceof EgressRefused) return error;
  }
  return null;
}

/** Resolves a host name to all its addresses. If it has none, rejects as node:dns does. */
export type Lookup = (hostname: string) => Promise<readonly { address: string; family: number }[]>;

export type EgressOptions = {
  /**
   * Hosts, addresses and CIDRs that may be called although they are not public. Throws AllowListError for a bad one.
   */
  allowPrivate: readonly string[];
  /**
   * Exact URLs (scheme, host, port, path; no query) on our own address that may be called directly, but not by a
   * redirect. A function if the port is only known once the server listens.
   */
  exempt?: readonly string[] | (() => readonly string[]);
  /**
   * The origins under which this service itself is reached, and the value of the lineage header, which tells this service for
   * which run a request is made (null: for no run). The header is sent to no other origin, and a value that a user gave is never
   * sent.
   */
  self?: { origins: readonly string[]; lineage: () => string | null };
  lookup?: Lookup;
  /** Milliseconds. A name's addresses share the time to connect; `headers` and `body` are the longest silence. */
  timeouts?: { connect?: number; headers?: number; body?: number };
};

const MAX_REDIRECTS = 5;
/** The response of a large model may take minutes to start; callers that want a shorter time pass a signal. */
const defaultTimeouts = { connect: 10_000, headers: 300_000, body: 300_000 };

/**
 * Creates the guard, on undici. Proxies of the environment are not used, since a proxy would
 * resolve the name again by itself.
 */
export function createEgress(options: EgressOptions): Egress {
  const allowed = parseAllowList(options.allowPrivate);
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const lookup = withTimeout(options.lookup ?? lookUp, timeouts.connect);
  const exempt = exemptions(options.exempt ?? []);
  // Pools are kept by origin, so a connection serves only the name for which it was checked; unchecked
  // ones have a separate pool.
  const guarded = lazyAgent(timeouts, pinnedLookup(lookup, allowed));
  const unguarded = lazyAgent(timeouts, undefined);

  const check = async (target: string | URL) => {
    const url = checkUrl(target);
    if (!exempt(url)) await checkHost(url, allowed, lookup);
  };

  const send = async (request: Outgoing, first: boolean): Promise<Response> => {
    const direct = first && exempt(request.url);
    checkUrl(request.url);
    if (!direct) await checkHost(request.url, allowed, lookup, request.signal);
    if (!request.headers.has('user-agent')) request.headers.set('user-agent', 'Baton');
    setLineage(request, options.self);
    const { undici, dispatcher } = await (direct ? unguarded : guarded).open();
    try {
      return await sendAnywhere(undici, dispatcher, request);
    } catch (error) {
      throw refusalIn(error) ?? error;
    }
  };

  return {
    fetch: (input, init) => fetchWith(send, input, init),
    check,
    async close() {
      await Promise.all([guarded.close(), unguarded.close()]);
    },
  };
}

/** At every hop, because a redirect may lead to this service or away from it. */
function setLineage({ url, headers }: Outgoing, self: EgressOptions['self']): void {
  const lineage = self?.origins.includes(withoutDot(url).origin) ? self.lineage() : null;
  if (lineage === null) headers.delete(LINEAGE_HEADER);
  else headers.set(LINEAGE_HEADER, lineage);
}

/** `localhost.` is a spelling of `localhost`. */
function withoutDot(url: URL): URL {
  if (!url.hostname.endsWith('.')) return url;
  const plain = new URL(url);
  plain.hostname = url.hostname.replace(/\.$/, '');
  return plain;
}

/** Sends a request and follows its redirects, each of which `send` checks like the first request. */
async function fetchWith(
  send: (request: Outgoing, first: boolean) => Promise<Response>,
  input: RequestInfo | URL,
  init: RequestInit | undefined,
): Promise<Response> {
  let request = await readRequest(checkUrl(input instanceof Request ? input.url : input), input, init);
  // The redirect with which a server answered the original request: the requests that follow it only read.
  let done: Response | null = null;
  for (let hop = 0; ; hop += 1) {
    let response: Response;
    try {
      response = await send(request, hop === 0);
      if (done !== null) noteRedirect(response, done);
      if (!isRedirect(response) || request.redirect === 'manual') return response;
      const location = response.headers.get('location');
      if (location === null) return response;
      if (request.method !== 'GET' && becomesGet(request.method, response.status)) done ??= response;
      await response.body?.cancel();
      if (request.redirect === 'error')
        throw new TypeError(`"${request.url.host}" redirected, which was not expected.`);
      if (hop === MAX_REDIRECTS) throw new TooManyRedirects(request.url.host, MAX_REDIRECTS);
      request = carryOver(request, response.status, nextUrl(request.url, location));
    } catch (error) {
      if (done !== null && error instanceof Error && !request.signal.aborted) noteRedirect(error, done);
      throw error;
    }
  }
}

/** Creates an agent when it is first used: undici is a hundred modules, 50 ms of every start. */
function lazyAgent(timeouts: typeof defaultTimeouts, lookup: LookupFunction | undefined) {
  let agent: Agent | undefined;
  // The module is kept, because importing it again costs 10 µs for each request.
  let imported: typeof import('undici') | undefined;
  let closed = false;
  return {
    async open() {
      imported ??= await import('undici');
      const undici = imported;
      // A connection carries one request at a time: a slow tool call delays no other, and names share nothing.
      agent ??= new undici.Agent({
        allowH2: false,
        headersTimeout: timeouts.headers,
        bodyTimeout: timeouts.body,
        connect: skippingContinue(
          undici.buildConnector({ allowH2: false, timeout: timeouts.connect, ...(lookup && { lookup }) }),
        ),
      });
      // A destroyed agent refuses requests, as an agent does that was in use before the close.
      if (closed) await agent.destroy();
      return { undici, dispatcher: agent as Dispatcher };
    },
    close: async () => {
      closed = true;
      await agent?.destroy();
    },
  };
}

/** Parses a URL and checks everything except its host. Throws EgressRefused. */
function checkUrl(target: string | URL): URL {
  if (!URL.canParse(String(target))) throw new EgressRefused('The address is not a URL.');
  const url = new URL(target);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new EgressRefused(`Only http and https addresses may be called, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new EgressRefused(`The address of "${url.host}" contains credentials; they do not belong in a URL.`);
  }
  return url;
}

async function checkHost(url: URL, allowed: AllowList, lookup: Lookup, signal?: AbortSignal): Promise<void> {
  const host = hostOf(url);
  if (allowed.hosts.has(host)) return;
  if (isIP(host) !== 0) {
    if (!mayConnect(host, allowed)) throw refused(host);
    return;
  }
  await abortable(resolve(host, allowed, lookup), signal);
}

/**
 * Returns the addresses of a name after checking all of them: names are rebound by mixing private
 * addresses with public ones.
 */
async function resolve(host: string, allowed: AllowList, lookup: Lookup): ReturnType<Lookup> {
  const addresses = await lookup(host);
  if (allowed.hosts.has(host)) return addresses;
  if (addresses.length === 0 || addresses.some(({ address }) => !mayConnect(address, allowed))) throw refused(host);
  return addresses;
}

function refused(host: string): EgressRefused {
  return new EgressRefused(
    `"${host}" is not on the public network. Only addresses that BATON_ALLOW_PRIVATE_NETWORK lists may be called there.`,
  );
}

/** Returns the resolver for new connections, which returns the checked addresses, so there is no second look-up. */
function pinnedLookup(lookup: Lookup, allowed: AllowList): LookupFunction {
  return (hostname, options, done) => {
    resolve(hostname.replace(/\.$/, ''), allowed, lookup).then(
      addresses => {
        if (options.all) return done(null, [...addresses]);
        const [first] = addresses;
        return first ? done(null, first.address, first.family) : done(refused(hostname), '', 0);
      },
      error => done(error, options.all ? [] : '', 0),
    );
  };
}

/** Returns the EgressRefused among the causes of a failed fetch: a name may be rebound between the check and the connection. */
function refusalIn(error: unknown): EgressRefused | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at instanceof EgressRefused) return at;
  return undefined;
}

function exemptions(listed: readonly string[] | (() => readonly string[])): (url: URL) => boolean {
  const place = (url: URL) => `${url.origin}${url.pathname}`;
  const placesOf = (entries: readonly string[]) => new Set(entries.map(entry => place(new URL(entry))));
  if (typeof listed === 'function') return url => placesOf(listed()).has(place(url));
  const fixed = placesOf(listed);
  return url => fixed.has(place(url));
}

function nextUrl(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href))
    throw new EgressRefused(`"${from.host}" redirected to something that is not a URL.`);
  const url = new URL(location, from);
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw new EgressRefused(`"${from.host}" redirected from https to http.`);
  }
  return url;
}

const lookUp: Lookup = hostname => systemLookup(hostname, { all: true, order: 'verbatim' });

/**
 * Makes a look-up fail like fetch, and within a time limit: the system's own may take half a minute if
 * name servers do not answer.
 */
function withTimeout(lookup: Lookup, milliseconds: number): Lookup {
  return hostname =>
    abortable(lookup(hostname), AbortSignal.timeout(milliseconds)).catch(error => {
      throw new TypeError('fetch failed', { cause: error });
    });
}

function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((done, fail) => {
    const stop = () => fail(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(done, fail).finally(() => signal.removeEventListener('abort', stop));
  });
}
