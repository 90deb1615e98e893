/** The body of an answer as text; of a stream, which may have no end, nothing: it is left as soon as it has begun. */
export async function readAnswer(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream) return response.text();
  await response.body?.cancel();
  return '';
}
