/** An answer that is larger than its reader takes. */
export class BodyTooLarge extends Error {
  readonly code = 'body_too_large';
  constructor(bytes: number) {
    super(`The answer is larger than ${bytes} bytes.`);
    this.name = 'BodyTooLarge';
  }
}

/**
 * The same response with a body of at most `bytes` (as decoded, so that a small compressed answer cannot become a huge one).
 * Reading beyond rejects with BodyTooLarge and ends the connection.
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
