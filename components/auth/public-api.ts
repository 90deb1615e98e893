import { isRecord } from '../ui/errors.ts';

/** Carries the API's answer in the form `readError` understands. */
class ApiError extends Error {
  readonly data: Record<string, unknown>;

  constructor(status: number, body: unknown) {
    const failure = isRecord(body) ? body : {};
    super(typeof failure.error === 'string' ? failure.error : `The server answered ${status}.`);
    this.data = { ...failure, status };
  }
}

/** POST to one of the operations that need no session. Returns the answer; throws ApiError with the server's words. */
export async function postPublic(path: `/v1/${string}`, body: unknown): Promise<unknown> {
  const response = await fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  const json: unknown = text ? JSON.parse(text) : null;
  if (response.ok) return json;
  throw new ApiError(response.status, json);
}

/** The same for an operation that answers with the account. Returns its email; throws ApiError, or if there is none. */
export async function postForEmail(path: `/v1/${string}`, body: unknown): Promise<string> {
  const answer = await postPublic(path, body);
  if (!isRecord(answer) || typeof answer.email !== 'string') throw new Error('The server returned no email address.');
  return answer.email;
}
