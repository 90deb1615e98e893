import type { Role, Scope } from '../orchestrator/ports/authority.ts';
import type { Services } from './services.ts';

/** The identity of the caller, derived from the credential alone. */
export type Principal = {
  userId: string;
  email: string;
  name: string;
  tenantId: string;
  projectId: string;
  /** The user's present role on this project; `tenant_admin` includes contributor on every project. */
  role: Role;
  credential: { kind: 'session' } | { kind: 'pat'; patId: string; scopes: readonly Scope[] };
};

/** The raw request; only operations that declare `raw` get it. */
export type RawRequest = {
  /**
   * The exact bytes of the body. Throws AppError 415 unless it is sent as application/json or the operation reads other types,
   * 413 beyond the limit, 400 if it ends early.
   */
  body: () => Promise<Uint8Array>;
  /** The headers whose names begin with `prefix`, by their lower-case names. */
  headersWith: (prefix: string) => [name: string, value: string][];
  /**
   * Counts the request towards the limit of `key` (`subscription:<id>`) instead of the client's address. Throws AppError 429.
   */
  countAs: (key: string) => Promise<void>;
  /**
   * Hands the request over to the node that leads the workspace. Returns true if that node has answered, and then the operation's
   * own output is ignored; false if the request is to be handled here. Throws AppError 503.
   */
  handOver: (tenantId: string) => Promise<boolean>;
};

/** The connection of a stream, which only an operation that produces one gets. */
export type StreamConnection = {
  /**
   * Aborts when the stream has to end: the client has left or has been cut off, its credential no longer allows the stream, or the
   * server shuts down. It always aborts in the end.
   */
  signal: AbortSignal;
  /** Disconnects a client that does not read its frames. It can resume after the last frame that it has. */
  cut: () => void;
};

/** The first argument of every use case: `(ctx, input) → output`. */
export type Context = {
  principal: Principal;
  services: Services;
  requestId: string;
  /** The client's address, for limits on public operations; absent if there is none (tests, in-process calls). */
  clientAddress?: string;
  raw?: RawRequest;
  stream?: StreamConnection;
  /**
   * Calls the listener at most once, when the client disconnects; returns a function that removes the listener. Absent
   * where this cannot be detected.
   */
  onDisconnect?: (listener: () => void) => () => void;
  /** The run and the step whose agent calls the operation for the caller; absent if the caller calls it directly. */
  agentCall?: { runId: string; stepId: string };
  /** How the request came in; becomes a run's default `trigger_type`. */
  surface: 'rest' | 'trpc' | 'mcp';
  /** Request headers an operation may need (If-Match, Idempotency-Key), lower-case names. */
  headers: ReadonlyMap<string, string>;
  /** Response headers an operation sets (ETag). */
  responseHeaders: Map<string, string>;
};

/** For operations that need no credential (set-up, accepting an invitation). */
export type PublicContext = Omit<Context, 'principal'>;
