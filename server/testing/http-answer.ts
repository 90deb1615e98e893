/** Returns the body of an answer as text. Returns nothing for a stream, which may never end, and disconnects from it immediately. */
export async function readAnswer(response: Response): Promise<string> {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (!isStream) return response.text();
  await response.body?.cancel();
  return '';
}
