/**
 * Returns the answer to a sign-in over the limit. next-auth always answers a refused sign-in with 401, or with a redirect if the form was
 * sent without scripts. This answer keeps next-auth's cookies, and the `url` from which its client reads the error.
 */
export async function tooManyAttempts(refused: Response, retryAfter: string): Promise<Response> {
  const headers = new Headers(refused.headers);
  const url = headers.get('location') ?? (await urlIn(refused));
  for (const name of ['location', 'content-length']) headers.delete(name);
  headers.set('content-type', 'application/json');
  headers.set('retry-after', retryAfter);
  const error = `Too many sign-in attempts. Try again in ${durationOf(Number(retryAfter))}.`;
  return new Response(JSON.stringify({ error, code: 'rate_limited', url }), { status: 429, headers });
}

/** Formats a wait as `42 seconds`, or from two hours on as `7 hours`: the wait for the daily limit may be that long. */
function durationOf(seconds: number): string {
  if (seconds >= 7_200) return `${Math.ceil(seconds / 3_600)} hours`;
  return seconds === 1 ? '1 second' : `${seconds} seconds`;
}

async function urlIn(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => null);
  return typeof body === 'object' && body !== null && 'url' in body ? body.url : undefined;
}
