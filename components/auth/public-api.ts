import * as z from 'zod/mini';

const Failure = z.looseObject({
  error: z.string(),
  code: z.optional(z.string()),
  details: z.optional(z.array(z.looseObject({ path: z.string(), message: z.string() }))),
  request_id: z.optional(z.string()),
});

/** Carries the API's answer in the form `readError` understands. */
export class ApiError extends Error {
  readonly data: { status: number; code?: string; details?: { path: string; message: string }[]; request_id?: string };

  constructor(status: number, body: z.output<typeof Failure>) {
    super(body.error);
    const { code, details, request_id } = body;
    this.data = {
      status,
      ...(code === undefined ? {} : { code }),
      ...(details === undefined ? {} : { details }),
      ...(request_id === undefined ? {} : { request_id }),
    };
  }
}

/** POST to one of the operations that need no session. Throws ApiError with the server's words. */
export async function postPublic(path: `/v1/${string}`, body: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const json: unknown = text ? JSON.parse(text) : null;
  if (response.ok) return json;
  const failure = Failure.safeParse(json);
  throw new ApiError(
    response.status,
    failure.success ? failure.data : { error: `The server answered ${response.status}.` },
  );
}
