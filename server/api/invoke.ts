import type { Context, Principal, RawRequest, StreamConnection } from '../operation/context.ts';
import { featureOff } from '../operation/features.ts';
import type { AnyOperation } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import { hasRole, type Scope } from '../orchestrator/ports/authority.ts';
import { AppError, forbidden, unauthenticated } from '../platform/errors.ts';
import { type CallerLineage, currentLineage, LINEAGE_HEADER, withLineage } from '../platform/lineage.ts';
import { inSecretScope } from '../platform/secrets/in-use.ts';
import { audited } from './audited.ts';
import type { RegisteredOperation } from './registry.ts';

/** The dependencies of every surface; the container constructs them once. */
export type Invoker = {
  services: Services;
  /** Features that are enabled in this deployment; an operation of another feature is 404. */
  features: ReadonlySet<string>;
  /**
   * Checks every output against its schema (tests and development), so that a defect is found before a client finds it.
   */
  checkOutput: boolean;
};

export type Invocation = {
  entry: RegisteredOperation;
  /** Null: no credential, or an invalid one. */
  principal: Principal | null;
  requestId: string;
  surface: Context['surface'];
  /** For the limits of public operations. */
  clientAddress?: string;
  /** For an operation with a raw body. */
  raw?: RawRequest;
  /** For an operation that produces a stream. */
  stream?: StreamConnection;
  onDisconnect?: Context['onDisconnect'];
  agentCall?: Context['agentCall'];
  /** The header with the lineage of the run whose step sent the request, where `header` finds none. */
  lineage?: string | undefined;
  /** Looks a request header up by its lower-case name. */
  header: (name: string) => string | undefined;
  /** Reads and parses the input; called only once the caller is known to be allowed. */
  input: () => Promise<unknown> | unknown;
};

export type Result = { output: unknown; headers: ReadonlyMap<string, string> };

/**
 * Returns whether the principal's credential carries the scope; a session carries every one
 * (docs/specification/authentication.md#scopes).
 */
export function hasScope(principal: Principal, scope: Scope | null): boolean {
  return scope === null || principal.credential.kind === 'session' || principal.credential.scopes.includes(scope);
}

/**
 * Runs an operation. All surfaces use this function: feature (404) → credential (401) → role and scope (403) → input (422) → run.
 * So a caller without the right to call it learns neither whether something exists nor what a valid request looks like.
 */
export async function invoke(invoker: Invoker, call: Invocation): Promise<Result> {
  const { operation } = call.entry;
  if (operation.feature !== undefined && !invoker.features.has(operation.feature)) {
    throw featureOff(operation.feature);
  }
  const responseHeaders = new Map<string, string>();
  const context = {
    services: invoker.services,
    requestId: call.requestId,
    surface: call.surface,
    ...(call.clientAddress === undefined ? {} : { clientAddress: call.clientAddress }),
    ...(call.raw === undefined ? {} : { raw: call.raw }),
    ...(call.stream === undefined ? {} : { stream: call.stream }),
    ...(call.onDisconnect === undefined ? {} : { onDisconnect: call.onDisconnect }),
    ...(call.agentCall === undefined ? {} : { agentCall: call.agentCall }),
    headers: declaredHeaders(operation, call.header),
    responseHeaders,
  };
  const { services } = invoker;
  const run = () =>
    withLineage(lineageOf(services, call), () =>
      inSecretScope(() =>
        audited(services, call, async keep => {
          const act = authorize(operation, call.principal, context);
          return act(keep(await inputOf(call, context)));
        }),
      ),
    );
  const output = await (call.principal === null ? run() : services.requestTurns.take(call.principal.tenantId, run));
  // The frames of a stream are checked as they are sent (sse.ts).
  if (invoker.checkOutput && operation.produces !== 'text/event-stream') checkOutput(operation, output);
  return { output, headers: responseHeaders };
}

/**
 * Returns the lineage of the run on whose behalf the operation is called: its agent calls it in this process, or its step sent
 * the request. A header that this service did not write is ignored.
 */
function lineageOf({ lineage: seal }: Services, { agentCall, lineage, header }: Invocation): CallerLineage | null {
  if (agentCall !== undefined) return currentLineage();
  const given = lineage ?? header(LINEAGE_HEADER);
  return given === undefined ? null : seal.open(given);
}

type RunContext = Omit<Context, 'principal'>;

async function inputOf({ entry: { operation }, principal, input }: Invocation, context: RunContext): Promise<unknown> {
  try {
    return await input();
  } catch (error) {
    throw operation.refused === undefined || principal === null
      ? error
      : await operation.refused({ ...context, principal }, error);
  }
}

function authorize(
  operation: AnyOperation,
  principal: Principal | null,
  context: RunContext,
): (input: unknown) => Promise<unknown> {
  // `as never`: the input was parsed with this operation's schema, whose output `run` accepts.
  if (operation.access === 'public') return input => operation.run(context, input as never);
  if (!principal) throw unauthenticated();
  if (!hasRole(principal.role, operation.access)) {
    throw forbidden(`This needs the role ${operation.access}.`, 'insufficient_role');
  }
  if (!hasScope(principal, operation.scope)) {
    throw forbidden(`This needs a token with the scope ${operation.scope}.`, 'insufficient_scope');
  }
  return input => operation.run({ ...context, principal }, input as never);
}

/** Returns only headers that the operation declares, so that the OpenAPI description cannot be incomplete. */
function declaredHeaders(operation: AnyOperation, header: Invocation['header']): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const name of operation.headers ?? []) {
    const value = header(name.toLowerCase());
    if (value !== undefined) headers.set(name.toLowerCase(), value);
  }
  return headers;
}

/** Throws AppError 500 for an output that its schema does not allow: a defect. */
export function checkOutput(operation: AnyOperation, output: unknown): void {
  const parsed = operation.output.safeParse(output);
  if (parsed.success) return;
  throw new AppError(500, 'internal_error', 'The server failed to answer.', {
    cause: new Error(`${operation.name} returned what its output schema does not allow: ${parsed.error.message}`),
  });
}
