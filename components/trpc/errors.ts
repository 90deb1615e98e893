// Every page reads errors, so this is checked manually: zod/mini is 24 KB of JavaScript (gzip).
type Detail = { path: string; message: string; code?: string };
type Failure = { status: number | undefined; code: string; details: Detail[]; requestId: string | undefined };

export type Problem = {
  /** The server's message, suitable for users. */
  message: string;
  /** HTTP status; 0 where the server could not be reached. */
  status: number;
  /** The stable snake_case code (docs/specification/errors.md#codes); empty if there is none. */
  code: string;
  details: Detail[];
  requestId: string | undefined;
};

/** Converts anything thrown by a tRPC call, a fetch or our own code to a message for the user. */
export function readError(error: unknown): Problem {
  const failure = readFailure(typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined);
  const message = error instanceof Error ? error.message : String(error);
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

/** Reads what the API says about a failure beside its message; null if this is no object. What has another type is left out. */
function readFailure(value: unknown): Failure | null {
  if (!isRecord(value)) return null;
  const status = [value.status, value.httpStatus].find(each => typeof each === 'number');
  const details = Array.isArray(value.details) ? value.details.flatMap(readDetail) : [];
  return { status, code: textOf(value.code) ?? '', details, requestId: textOf(value.request_id) };
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
