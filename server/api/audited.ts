import { recordAudit, recordAuditLater } from '../domains/audit/record.ts';
import type { Principal } from '../operation/context.ts';
import { isReadOnly } from '../operation/operation.ts';
import type { Services } from '../operation/services.ts';
import { AppError } from '../platform/errors.ts';
import { isPlainObject } from '../platform/json.ts';
import type { Invocation } from './invoke.ts';

/** Performs the operation; calls `keep` with its input as soon as that is read. */
type Perform = (keep: (input: unknown) => unknown) => Promise<unknown>;
/** The facts about an operation when it ends. */
type Ended = { outcome: string; input: unknown; output: unknown };

/**
 * Performs an operation and records it in the audit log, unless it is read-only or declared as `unaudited`. It records successful
 * operations, operations for which the caller had no right (403), and operations that failed in the server, which may have been
 * partly done. Other refusals changed nothing, and thousands of them could fill the log.
 */
export async function audited(services: Services, call: Invocation, perform: Perform): Promise<unknown> {
  const { operation } = call.entry;
  if (isReadOnly(operation) || operation.unaudited) return perform(input => input);
  let input: unknown;
  let output: unknown;
  try {
    output = await perform(read => (input = read));
  } catch (error) {
    const { status, code } = error instanceof AppError ? error : { status: 500, code: 'internal_error' };
    const ended = { outcome: code, input, output: undefined };
    if (status === 403) await record(services, call, ended);
    // Not awaited: if the database is the reason for the failure, the answer would be late.
    if (status >= 500) void record(services, call, ended);
    throw error;
  }
  await record(services, call, { outcome: 'ok', input, output });
  return output;
}

/** Records nothing if the caller is unknown: a public operation that created no account. */
async function record(services: Services, call: Invocation, { outcome, input, output }: Ended): Promise<void> {
  const { entry, principal } = call;
  const actor = actorOf(principal, output);
  if (actor === null) return;
  const { command, name, startsRun, audited: about } = entry.operation;
  const recorded = {
    ...actor,
    surface: call.surface,
    operation: name,
    action: command === undefined ? null : (textsOf(input, [command])[command] ?? null),
    target: {
      ...textsOf(output, ['id', 'run_id', 'stop_id', 'user_id', 'grant_id']),
      ...textsOf(input, entry.pathParameters),
      // If the caller has no right, the input was not read.
      ...(about === undefined || input === undefined ? {} : about(input, output)),
    },
    outcome,
    requestId: call.requestId,
    clientAddress: call.clientAddress ?? null,
  };
  if (outcome === 'ok' && startsRun?.(input)) recordAuditLater(services, recorded);
  else await recordAudit(services, recorded);
}

type Actor = { tenantId: string; projectId: string | null; userId: string; patId: string | null };

/**
 * Returns the principal; for a caller without a credential, the account and the workspace in the operation's answer.
 */
function actorOf(principal: Principal | null, output: unknown): Actor | null {
  if (principal !== null) {
    const { tenantId, projectId, userId, credential } = principal;
    return { tenantId, projectId, userId, patId: credential.kind === 'pat' ? credential.patId : null };
  }
  const { tenant_id: tenantId, user_id: userId } = textsOf(output, ['tenant_id', 'user_id']);
  return tenantId === undefined || userId === undefined ? null : { tenantId, projectId: null, userId, patId: null };
}

/** The maximum number of characters of a text that is recorded as an id or a command. */
const MAX_ID_LENGTH = 200;

/** Returns the named fields that are short texts or numbers. */
function textsOf(value: unknown, names: readonly string[]): Record<string, string> {
  if (!isPlainObject(value)) return {};
  const fields = new Map(Object.entries(value));
  return Object.fromEntries(
    names.flatMap(name => {
      const field: unknown = fields.get(name);
      const isId = (typeof field === 'string' && field.length <= MAX_ID_LENGTH) || typeof field === 'number';
      return isId ? [[name, String(field)]] : [];
    }),
  );
}
