import type { z } from 'zod';
import type { Role, Scope } from '../orchestrator/ports/authority.ts';
import type { Context, PublicContext } from './context.ts';
import type { Feature } from './features.ts';
import type { McpGroup } from './mcp-groups.ts';
import type { RequestHeader } from './request-headers.ts';

/** The body is kept as the received bytes, at most `limit`, because a signature covers them; `ctx.raw` reads it. */
export type RawBody = {
  limit: number;
  /**
   * The media types of the bodies that the operation reads. If given, the operation refuses other types itself. Default: only
   * application/json.
   */
  mediaTypes?: readonly string[];
};

/** Hints for MCP clients about a tool (MCP specification, ToolAnnotations). */
export type ToolHints = {
  /** The tool changes nothing. */
  readOnly: boolean;
  /** The tool can overwrite, end or delete something; otherwise it only adds. */
  destructive: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  idempotent: boolean;
  /** The tool reaches servers outside of this deployment. */
  openWorld: boolean;
};

/** The data of the event that ends a UI message stream of the AI SDK. It is no JSON. */
export const STREAM_DONE = '[DONE]';

/** One frame of a stream. A client that resumes names the `id` of the last frame that it has. */
export type StreamFrame = {
  id?: string;
  /** JSON that fits the operation's output schema: text, because it is written once for all clients, and measured. */
  json: string;
};

type Common<I extends z.ZodType, O extends z.ZodType> = {
  /** snake_case, unique; also the MCP tool's name and the tRPC procedure's. */
  name: string;
  method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** `/v1/workflows/{id}/versions/{version}`; every parameter is a key of the input. */
  path: `/v1/${string}`;
  /** The status of a successful response; 204 sends no body. */
  status: 200 | 201 | 202 | 204;
  /** A second status of successful responses, for outputs for which `where` returns true. */
  otherwise?: { status: 200 | 202; description: string; where(output: z.input<O>): boolean };
  tag: string;
  summary: string;
  description?: string;
  /** One strict object: path parameters, query (GET, DELETE) or body (the others) together. */
  input: I;
  /** Fields of the input that a request with a body sends in its query. */
  query?: readonly string[];
  output: O;
  /** Statuses beyond 400, 401, 403, 404, 422, 429 that callers should expect, for OpenAPI. */
  errors?: readonly number[];
  /** Request headers that it reads; described in OpenAPI. */
  headers?: readonly RequestHeader[];
  /**
   * Only for public operations, and only over REST: neither tRPC nor MCP could pass the bytes on. The input consists of
   * the path's parameters, checked only by its schema.
   */
  raw?: RawBody;
  /**
   * `text/csv`: a download; the output is its text, which REST sends as a file and tRPC as a string. `text/event-stream`: frames
   * (`streamOperation`). Default: JSON.
   */
  produces?: 'text/csv' | 'text/event-stream';
  /** Returns the text that REST sends as text/plain instead of this output; null for JSON. */
  plainText?(output: z.input<O>): string | null;
  mcp?: {
    group: McpGroup;
    risk?: true;
    /**
     * Not a tool, because another operation does the same; `catalog_bff_request` can still call it if its group is on.
     */
    tool?: false;
    /** Never given to agents, even if their author lists it: a text that an agent reads must not change the rights of agents. */
    agents?: false;
    /** For an operation whose method does not show its effects: see `toolHints`. */
    hints?: Partial<ToolHints>;
  };
  /** Scopes that a token needs only in certain cases. `run` checks them; this is for the description. */
  scopesWhere?: readonly { scope: Scope; when: string }[];
  /** The field of the input that selects one of the operation's commands; the audit log records it. */
  command?: string;
  /**
   * Whether the operation started a run. The run's log then records who started it, so the response need not wait for
   * the entry in the audit log. Default: never.
   */
  startsRun?(input: z.output<I>): boolean;
  /** Called with the error of an invalid input. Returns the error to throw: the same or another one. */
  refused?(ctx: Context, error: unknown): Promise<unknown>;
  /** Left out of the audit log: the operation is called frequently and changes nothing that an administrator manages. */
  unaudited?: true;
  /**
   * Returns short texts of the input, or of the output after success, that the audit log records in addition to the ids of the
   * path.
   */
  audited?(input: z.output<I>, output: z.input<O> | undefined): Record<string, string>;
  /** A deployment feature without which the operation is 404. */
  feature?: Feature;
};

export type Operation<
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  N extends string = string,
> = Common<I, O> & {
  name: N;
} & (
    | { access: 'public'; run: (ctx: PublicContext, input: z.output<I>) => Promise<z.input<O>> }
    | {
        /** `member`: any signed-in user of the tenant, with any or no role on the project. */
        access: Role | 'member';
        scope: Scope | null;
        run: (ctx: Context, input: z.output<I>) => Promise<z.input<O>>;
      }
  );

/**
 * An operation with any schemas, as the registry stores it. `run` takes `never`, because only `invoke` may call it,
 * with input parsed by the operation's own schema.
 */
export type AnyOperation = Common<z.ZodType, z.ZodType> & { name: string } & (
    | { access: 'public'; run: (ctx: PublicContext, input: never) => Promise<unknown> }
    | { access: Role | 'member'; scope: Scope | null; run: (ctx: Context, input: never) => Promise<unknown> }
  );

/**
 * Whether an operation changes nothing: derived from its method (RFC 9110, 9.2.1) unless the
 * declaration says otherwise.
 */
export const isReadOnly = ({ method, mcp }: Pick<AnyOperation, 'method' | 'mcp'>): boolean =>
  mcp?.hints?.readOnly ?? method === 'GET';

/** Declares an operation; REST, OpenAPI, tRPC and MCP are derived from it (docs/adr/0001-operations-declared-once.md). */
export function operation<
  const N extends string,
  const M extends AnyOperation['method'],
  I extends z.ZodType,
  O extends z.ZodType,
>(declared: Operation<I, O, N> & { method: M }): Operation<I, O, N> & { method: M } {
  return declared;
}

/** Declares an operation that reads the raw bytes of its body. */
export function rawOperation<
  const N extends string,
  const M extends AnyOperation['method'],
  I extends z.ZodType,
  O extends z.ZodType,
>(declared: Operation<I, O, N> & { method: M; raw: RawBody }): Operation<I, O, N> & { method: M; raw: RawBody } {
  return declared;
}

/**
 * Declares an operation that answers with server-sent events, over REST alone. `output` is the schema of what each frame carries.
 * `run` makes all checks and resolves with the frames. They are produced when they are read, until `ctx.stream.signal` aborts. It
 * resolves with null (204) if no frame will ever come, so that clients do not reconnect.
 */
export function streamOperation<
  const N extends string,
  I extends z.ZodType,
  O extends z.ZodType,
  const M extends 'GET' | 'POST' = 'GET',
>(
  declared: Omit<Common<I, O>, 'name' | 'method' | 'status' | 'produces' | 'mcp'> & {
    name: N;
    /** Default: GET. A POST first performs an action, and streams its results. */
    method?: M;
    access: Role | 'member';
    scope: Scope | null;
    run: (ctx: Context, input: z.output<I>) => Promise<AsyncIterable<StreamFrame> | null>;
  },
) {
  // The type cannot see that GET is the default of `M`.
  const method = (declared.method ?? 'GET') as M;
  return { ...declared, method, status: 200, produces: 'text/event-stream' } as const;
}
