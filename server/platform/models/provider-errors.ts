/** Reads what providers say of errors: in the body of a response, in the middle of a stream, or inside a 200. */

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Returns the text of an error: most use `{error: {message}}`, similar servers `message`, `detail` or a bare `error`. */
export function textOf(body: unknown): string | undefined {
  if (!isRecord(body)) return undefined;
  const inner = isRecord(body.error) ? body.error.message : body.error;
  return [inner, body.message, body.detail].find(each => typeof each === 'string');
}

/** Returns the provider's own name of an error. */
export function codeOf(body: unknown): string | undefined {
  const error = isRecord(body) && isRecord(body.error) ? body.error : body;
  if (!isRecord(error)) return undefined;
  return [error.code, error.type].find(each => typeof each === 'string');
}

/** Returns whether a body reports an error, regardless of its status. */
export function reportsError(body: unknown): boolean {
  if (!isRecord(body)) return false;
  const { error, type, object } = body;
  return (error !== undefined && error !== null && error !== false) || type === 'error' || object === 'error';
}

const STATUS_BY_NAME: readonly (readonly [RegExp, number])[] = [
  [/^(rate_?limit\w*|too_many_requests|resource_exhausted|insufficient_quota)$/i, 429],
  [/^(authentication_error|invalid_api_key|unauthenticated|unauthorized)$/i, 401],
  [/^(permission\w*|forbidden)$/i, 403],
  [/^(\w*not_found\w*)$/i, 404],
  [/^(invalid_request\w*|invalid_argument|context_length_exceeded|failed_precondition|bad_request)$/i, 400],
  [/^(overloaded\w*|server_error|internal\w*|api_error|unavailable|service_unavailable|deadline_exceeded)$/i, 503],
];

/** Returns the status that fits an error without a status; undefined if it cannot be derived. */
export function statusOf(body: unknown): number | undefined {
  const error = isRecord(body) && isRecord(body.error) ? body.error : body;
  if (!isRecord(error)) return undefined;
  const names = [error.code, error.status, error.type];
  const given = names.map(Number).find(status => Number.isInteger(status) && status >= 400 && status < 600);
  if (given !== undefined) return given;
  for (const name of names) {
    const known = typeof name === 'string' ? STATUS_BY_NAME.find(([words]) => words.test(name)) : undefined;
    if (known !== undefined) return known[1];
  }
  return undefined;
}

/** A server answered 200 with something that is no stream of events. */
export class NotAStream extends Error {
  /** The parsed JSON; undefined for a page. */
  readonly body: unknown;
  constructor(text: string) {
    super('the answer is no stream of events');
    this.name = 'NotAStream';
    this.body = parsed(text);
  }
}

function parsed(text: string): unknown {
  try {
    const body: unknown = JSON.parse(text);
    // Without `alt=sse` Google answers with a list of what would be events.
    return Array.isArray(body) && reportsError(body[0]) ? body[0] : body;
  } catch {
    return undefined;
  }
}
