// Every page reads errors. zod itself is 33 KB of JavaScript (gzip), zod/mini is what is used of it.
import * as z from 'zod/mini';

const Detail = z.looseObject({
  path: z.string(),
  message: z.string(),
  code: z.optional(z.string()),
  step_id: z.nullish(z.string()),
});
const Data = z.looseObject({
  code: z.optional(z.string()),
  status: z.optional(z.number()),
  httpStatus: z.optional(z.number()),
  details: z.nullish(z.array(Detail)),
  request_id: z.nullish(z.string()),
});

export type Problem = {
  /** The server's message, suitable for users. */
  message: string;
  /** HTTP status; 0 where the server could not be reached. */
  status: number;
  /** The stable snake_case code (docs/specification/errors.md#codes); empty if there is none. */
  code: string;
  details: { path: string; message: string; code?: string | undefined }[];
  requestId: string | undefined;
};

/** Converts anything thrown by a tRPC call, a fetch or our own code to a message for the user. */
export function readError(error: unknown): Problem {
  const shape: unknown = typeof error === 'object' && error !== null && 'data' in error ? error.data : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const data = Data.safeParse(shape);
  if (!data.success)
    return {
      message: isUnreachable(error) ? 'The server cannot be reached. Check your connection and try again.' : message,
      status: 0,
      code: '',
      details: [],
      requestId: undefined,
    };
  return {
    message,
    status: data.data.status ?? data.data.httpStatus ?? 500,
    code: data.data.code ?? '',
    details: data.data.details ?? [],
    requestId: data.data.request_id ?? undefined,
  };
}

function isUnreachable(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof TypeError;
}
