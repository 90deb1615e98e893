/** One item of `details` in an error response. */
export type ErrorDetail = { path: string; message: string; code?: string; step_id?: string; hint?: string };

/**
 * The number of details that a response shows: a body of 1 MiB can have 70,000 unknown fields, which
 * gave a response of 4.4 MB.
 */
export const MAX_DETAILS = 200;
const MAX_DETAIL_PATH_LENGTH = 500;
const MAX_DETAIL_MESSAGE_LENGTH = 2_000;

const truncate = (text: string, longest: number): string =>
  text.length > longest ? `${text.slice(0, longest)}…` : text;

/**
 * Returns the first details, each with a limited length. If there are more, the last detail gives their number, including the
 * `hidden` problems that have no detail.
 */
function shownDetails(details: readonly ErrorDetail[], hidden: number): ErrorDetail[] {
  const shown = details.slice(0, MAX_DETAILS).map(detail => ({
    ...detail,
    path: truncate(detail.path, MAX_DETAIL_PATH_LENGTH),
    message: truncate(detail.message, MAX_DETAIL_MESSAGE_LENGTH),
  }));
  const more = details.length - shown.length + hidden;
  if (more === 0) return shown;
  const message = `${more} more ${more === 1 ? 'problem is' : 'problems are'} not shown`;
  return [...shown, { path: '', message, code: 'more_problems' }];
}

/**
 * The only error that surfaces translate into a response. `message` is public: it never contains a secret or an
 * internal detail. What only the operator may see goes into `cause`, which is logged and never sent.
 */
export class AppError extends Error {
  readonly status: number;
  /** Stable, machine-readable, snake_case. */
  readonly code: string;
  readonly details: ErrorDetail[] | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(
    status: number,
    code: string,
    message: string,
    options: {
      details?: ErrorDetail[];
      hiddenDetails?: number;
      headers?: Record<string, string>;
      cause?: unknown;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.status = status;
    this.code = code;
    this.details = options.details && shownDetails(options.details, options.hiddenDetails ?? 0);
    this.headers = options.headers;
  }
}

export const badRequest = (message: string, code = 'bad_request') => new AppError(400, code, message);
export const unauthenticated = (message = 'Authentication is missing or invalid.') =>
  new AppError(401, 'unauthenticated', message, { headers: { 'WWW-Authenticate': 'Bearer' } });
export const forbidden = (message: string, code = 'forbidden') => new AppError(403, code, message);
export const notFound = (what: string) => new AppError(404, 'not_found', `${what} not found.`);
export const conflict = (code: string, message: string) => new AppError(409, code, message);
export const invalid = (message: string, details?: ErrorDetail[], code = 'invalid') =>
  new AppError(422, code, message, details ? { details } : {});
export const unavailable = (code: string, message: string, retryAfterSeconds = 2, cause?: unknown) =>
  new AppError(503, code, message, { headers: { 'Retry-After': String(retryAfterSeconds) }, cause });
