import type { Services } from './services.ts';

export const roles = ['project_viewer', 'project_contributor', 'tenant_admin'] as const;
/** Ordered: each role includes those before it. */
export type Role = (typeof roles)[number];
export const projectRoles = ['project_viewer', 'project_contributor'] as const;
export type ProjectRole = (typeof projectRoles)[number];

/** Every scope (docs/specification/authentication.md#scopes). */
export const scopes = [
  'workflow:read',
  'workflow:write',
  'workflow:run',
  'task:complete',
  'webhook:manage',
  'connection:manage',
  'mcp:read',
  'mcp:manage',
  'mcp:execute',
  'ai:use',
  'memory:use',
  'agent:read',
  'agent:manage',
  'analytics:read',
  'billing:read',
  'billing:manage',
  'pat:manage',
] as const;
export type Scope = (typeof scopes)[number];
/** Scopes of what is still to come: tokens may carry them, and nothing asks for them yet. */
export const reservedScopes: readonly Scope[] = ['agent:read', 'agent:manage'];

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

/** The raw request, which only an operation with a raw body gets (`raw` of its declaration). */
export type RawRequest = {
  /** The exact bytes of the body. AppError 415 where it is not sent as application/json, 413 beyond the limit, 400 where it ends early. */
  body: () => Promise<Uint8Array>;
  /** Counts the request as one of `key` (`subscription:<id>`), no longer as one of the client's address. AppError 429. */
  countAs: (key: string) => Promise<void>;
};

/** The first argument of every use case: `(ctx, input) → output`. */
export type Context = {
  principal: Principal;
  services: Services;
  requestId: string;
  /** The client's address, for limits on public operations; absent where there is none (tests, in-process calls). */
  clientAddress?: string;
  raw?: RawRequest;
  /** Calls the listener when the client has left, at most once; returns a function that removes the listener. Absent where this cannot be detected. */
  onDisconnect?: (listener: () => void) => () => void;
  /** How the request came in; becomes a run's default `trigger_type`. */
  surface: 'rest' | 'trpc' | 'mcp';
  /** Request headers an operation may need (If-Match, Idempotency-Key), lower-case names. */
  headers: ReadonlyMap<string, string>;
  /** Response headers an operation sets (ETag). */
  responseHeaders: Map<string, string>;
};

/** For operations that need no credential (set-up, accepting an invitation). */
export type PublicContext = Omit<Context, 'principal'>;
