import { AppError, type ErrorDetail, unavailable } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';

/** The body of every error response (decisions.md, Conventions). */
export type ErrorBody = { error: string; code: string; details?: ErrorDetail[]; request_id: string };

/**
 * PostgreSQL classes 08 (connection), 53 (resources), 57 (shutdown, statements that take too long) and 58 (its disk); Node's and Prisma's words
 * for an unreachable server.
 */
const databaseAway =
  /^(08...|53...|58...|57P0[1-5]|57014|ECONNREFUSED|ECONNRESET|EPIPE|ENOENT|ENOTFOUND|ETIMEDOUT|P1001|P1002|P1008|P1017|P2024)$/;
/** What pg says without a code when its pool or its connection is gone. */
const connectionLost =
  /timeout exceeded when trying to connect|Connection terminated|connection timeout|Query read timeout|: File too large|Client has encountered a connection error/i;

/**
 * Any thrown value as the error that is sent. A database that is away is 503 `database_unavailable`; what is no AppError is 500
 * with a message that says nothing, its cause kept for the log.
 */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseAway(thrown)) {
    return unavailable('database_unavailable', 'The database is not available.', 2, thrown);
  }
  return new AppError(500, 'internal_error', 'The server failed to answer.', { cause: thrown });
}

function isDatabaseAway(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false;
  if ('code' in thrown && typeof thrown.code === 'string' && databaseAway.test(thrown.code)) return true;
  if (connectionLost.test(thrown.message)) return true;
  return isDatabaseAway(thrown.cause);
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  return {
    error: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
    request_id: requestId,
  };
}

/** Tells the operator what the caller is not told. */
export function logFailure(logger: Logger, error: AppError, about: { requestId: string; operation?: string }): void {
  if (error.status < 500) return;
  const fields = {
    err: error.cause ?? error,
    code: error.code,
    request_id: about.requestId,
    operation: about.operation,
  };
  if (error.status === 503) logger.warn(fields, error.message);
  else logger.error(fields, 'a request failed');
}
