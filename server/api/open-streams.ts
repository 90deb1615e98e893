import type { Principal } from '../operation/context.ts';
import { PROJECT_HEADER, TENANT_HEADER } from '../operation/request-headers.ts';
import { AppError } from '../platform/errors.ts';
import { type Authenticator, authenticate, type Credential, type Headers } from './authenticate.ts';
import { asAppError } from './failure.ts';
import type { Metrics } from './metrics.ts';
import { type Connection, StreamCounts } from './stream-admission.ts';

export type OpenStreamsOptions = Authenticator & {
  metrics: Pick<Metrics, 'sockets'>;
  /**
   * The ms between checks of the credentials. Together with the 2 s for which a token may be cached, this stays under the
   * promised 5 s.
   */
  recheckEveryMs?: number;
};

/** A stream whose credential is checked again and again while it is open. */
export type OpenStream = {
  principal: Principal;
  credential: Credential;
  header: Headers;
  /** Returns whether a principal may read this stream. */
  may(principal: Principal): boolean;
  close(why: 'unauthorized' | 'shutting_down'): void;
};

/** The open streams of a process, WebSockets and server-sent events alike: counted together, and rechecked by one loop. */
export class OpenStreams {
  readonly metrics: Pick<Metrics, 'sockets'>;
  readonly #options: OpenStreamsOptions;
  readonly #counts: StreamCounts;
  readonly #open = new Set<OpenStream>();
  readonly #timer: NodeJS.Timeout;
  #rechecking = false;
  #closing = false;

  constructor(options: OpenStreamsOptions) {
    const { maxStreamsPerUser, maxStreamsPerTenant } = options.services.config.http;
    this.metrics = options.metrics;
    this.#options = options;
    this.#counts = new StreamCounts({ perUser: maxStreamsPerUser, perTenant: maxStreamsPerTenant });
    this.#timer = setInterval(() => void this.#recheckAll(), options.recheckEveryMs ?? 2000);
    this.#timer.unref();
  }

  /** Throws AppError 503 once the server shuts down. */
  refuseWhileClosing(): void {
    if (!this.#closing) return;
    throw new AppError(503, 'shutting_down', 'The server is shutting down.', { headers: { 'Retry-After': '5' } });
  }

  /** Counts a stream until its connection closes. Throws AppError 503 once the server shuts down, 429 beyond the limits. */
  count(principal: Principal, connection: Connection): void {
    this.refuseWhileClosing();
    const exceeded = this.#counts.take(principal, connection);
    if (exceeded === null) return;
    const { limit, of } = exceeded;
    const headers = { 'Retry-After': '5' };
    throw new AppError(429, 'too_many_streams', `More than ${limit} open streams of this ${of}.`, { headers });
  }

  /** Watches a stream; the returned function stops watching it. */
  watch(stream: OpenStream): () => void {
    this.#open.add(stream);
    return () => this.#open.delete(stream);
  }

  /** Refuses further streams and closes those that are open. */
  close(): void {
    this.#closing = true;
    clearInterval(this.#timer);
    for (const stream of this.#open) stream.close('shutting_down');
  }

  /**
   * Asks whether each open stream's credential still holds, once per credential and scope. While the database is unavailable, no
   * stream is closed.
   */
  async #recheckAll(): Promise<void> {
    if (this.#rechecking) return;
    this.#rechecking = true;
    try {
      for (const streams of groupByCredential(this.#open).values()) await this.#recheck(streams);
    } catch (error) {
      this.#options.services.logger.error({ err: error }, 'the credentials of open streams could not be checked');
    }
    this.#rechecking = false;
  }

  async #recheck(streams: readonly OpenStream[]): Promise<void> {
    const [first] = streams;
    if (!first) return;
    const principal = await authenticate(this.#options, first.credential, first.header).catch(asAppError);
    if (principal instanceof AppError && principal.status >= 500) return;
    for (const { principal: before, may, close } of streams) {
      const holds =
        principal !== null &&
        !(principal instanceof AppError) &&
        principal.tenantId === before.tenantId &&
        principal.projectId === before.projectId &&
        may(principal);
      if (!holds) close('unauthorized');
    }
  }
}

function groupByCredential(open: ReadonlySet<OpenStream>): Map<string, OpenStream[]> {
  return Map.groupBy(open, ({ credential, header }) =>
    JSON.stringify([credential, header(TENANT_HEADER), header(PROJECT_HEADER)]),
  );
}
