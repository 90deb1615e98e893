import { isRecord } from '../ui/errors.ts';

/** An error of the API, in the form that `readError` reads. */
class ApiError extends Error {
  readonly data: Record<string, unknown>;

  constructor(status: number, body: unknown) {
    const failure = isRecord(body) ? body : {};
    super(typeof failure.error === 'string' ? failure.error : `The server answered ${status}.`);
    this.data = { ...failure, status };
  }
}

/** Posts to an operation that needs no session. Returns the answer; throws an ApiError with the server's message. */
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

/**
 * Posts to an operation whose answer contains the account's email, and returns the email. Throws an ApiError, or an Error if the email is
 * missing.
 */
export async function postForEmail(path: `/v1/${string}`, body: unknown): Promise<string> {
  const answer = await postPublic(path, body);
  if (!isRecord(answer) || typeof answer.email !== 'string') throw new Error('The server returned no email address.');
  return answer.email;
}
