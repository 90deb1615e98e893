/** A response that is larger than its reader's limit. */
export class BodyTooLarge extends Error {
  readonly code = 'body_too_large';
  constructor(bytes: number) {
    super(`The answer is larger than ${bytes} bytes.`);
    this.name = 'BodyTooLarge';
  }
}

/**
 * Returns the same response with a body of at most `bytes` (decoded, so that a small compressed response cannot become
 * a huge one). Reading beyond that rejects with BodyTooLarge and closes the connection.
 */
export function limitBody(response: Response, bytes: number): Response {
  if (response.body === null) return response;
  let seen = 0;
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > bytes) throw new BodyTooLarge(bytes);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers, url } = response;
  const limited = new Response(response.body.pipeThrough(counted), { status, statusText, headers: [...headers] });
  Object.defineProperty(limited, 'url', { value: url });
  return limited;
}
