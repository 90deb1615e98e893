// Checked manually because every page reads errors: zod/mini is 24 KB of JavaScript (gzip).
type Detail = { path: string; message: string; code?: string };
type Failure = {
  /** The message of an answer, if it has one. */
  message: string | undefined;
  status: number | undefined;
  code: string;
  details: Detail[];
  requestId: string | undefined;
};

export type Problem = {
  /** The server's message, suitable for users. */
  message: string;
  /** The HTTP status; 0 if the server could not be reached. */
  status: number;
  /** The stable snake_case code (docs/specification/errors.md#codes), or an empty string. */
  code: string;
  details: Detail[];
  requestId: string | undefined;
};

/** Converts an error thrown by a tRPC call, a fetch or our own code to a message for the user. */
export function readError(error: unknown): Problem {
  const failure = readFailure(isRecord(error) ? (error.data ?? answerOf(error.meta)) : undefined);
  const message = failure?.message ?? (error instanceof Error ? error.message : String(error));
  if (failure === null)
    return {
      message: isUnreachable(error) ? 'The server cannot be reached. Check your connection and try again.' : message,
      status: 0,
      code: '',
      details: [],
      requestId: undefined,
    };
  return { ...failure, message, status: failure.status ?? 500 };
}

/** Returns the body of an answer that is not from tRPC: from a proxy, or to a request that was too large. */
function answerOf(meta: unknown): unknown {
  const { response, responseJSON } = isRecord(meta) ? meta : {};
  if (!(response instanceof Response) || response.ok) return undefined;
  const body = isRecord(responseJSON) ? responseJSON : {};
  return { message: textOf(body.error) ?? `The server answered ${response.status}.`, ...body, status: response.status };
}

/** Reads the API's details of a failure; null if `value` is not an object. Fields of another type are left out. */
function readFailure(value: unknown): Failure | null {
  if (!isRecord(value)) return null;
  const status = [value.status, value.httpStatus].find(each => typeof each === 'number');
  const details = Array.isArray(value.details) ? value.details.flatMap(readDetail) : [];
  const message = textOf(value.message);
  return { message, status, code: textOf(value.code) ?? '', details, requestId: textOf(value.request_id) };
}

function readDetail(value: unknown): Detail[] {
  if (!isRecord(value)) return [];
  const path = textOf(value.path);
  const message = textOf(value.message);
  const code = textOf(value.code);
  if (path === undefined || message === undefined) return [];
  return [{ path, message, ...(code === undefined ? {} : { code }) }];
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isUnreachable(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof TypeError;
}
