import { AppError, type ErrorDetail, unavailable } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { isDatabaseAway } from '../platform/postgres/away.ts';

/** The body of every error response (docs/specification/errors.md#error-body). */
export type ErrorBody = { error: string; code: string; details?: ErrorDetail[]; request_id: string };

/**
 * Converts any thrown value to the error that is sent. An unavailable database is 503 `database_unavailable`; anything
 * that is not an AppError is 500 with a message that reveals nothing, and its cause is kept for the log.
 */
export function asAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  if (isDatabaseAway(thrown)) {
    return unavailable('database_unavailable', 'The database is not available.', 2, thrown);
  }
  return new AppError(500, 'internal_error', 'The server failed to answer.', { cause: thrown });
}

export function errorBody(error: AppError, requestId: string): ErrorBody {
  return {
    error: error.message,
    code: error.code,
    ...(error.details ? { details: error.details } : {}),
    request_id: requestId,
  };
}

/** Logs the cause for the operator; the caller does not see it. */
export function logFailure(logger: Logger, error: AppError, about: { requestId: string; operation?: string }): void {
  if (error.status < 500) return;
  const fields = {
    err: error.cause ?? error,
    code: error.code,
    request_id: about.requestId,
    operation: about.operation,
  };
  // The orchestrator logs once why it does not lead; during an outage every request would repeat it.
  if (error.code === 'not_leading') logger.debug(fields, error.message);
  else if (error.status === 503) logger.warn(fields, error.message);
  else logger.error(fields, 'a request failed');
}
