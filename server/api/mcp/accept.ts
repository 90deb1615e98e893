/** The media types of an answer: one JSON document, or the same as the only event of a stream. */
export type AnswerType = 'application/json' | 'text/event-stream';

/**
 * Returns the media type in which a client accepts answers (RFC 9110, 12.5.1): JSON wherever it accepts that, also by a wildcard
 * or by sending no `Accept`. Null if it accepts neither. The MCP specification requires clients to name both types, but many do
 * not.
 */
export function answerTypeFor(accept: string | undefined): AnswerType | null {
  if (accept === undefined || accept.trim() === '') return 'application/json';
  const weights = new Map<string, number>();
  for (const item of accept.toLowerCase().split(',', 50)) {
    const [range = '', ...parameters] = item.split(';').map(part => part.trim());
    const q = parameters.find(parameter => /^q\s*=/.test(parameter));
    const weight = q === undefined ? 1 : Number(q.slice(q.indexOf('=') + 1));
    // An invalid weight is ignored.
    weights.set(range, Number.isNaN(weight) ? 1 : weight);
  }
  const accepts = (type: AnswerType) => {
    const exact = weights.get(type) ?? weights.get(`${type.split('/', 1)[0]}/*`);
    return (exact ?? weights.get('*/*') ?? weights.get('*') ?? 0) > 0;
  };
  if (accepts('application/json')) return 'application/json';
  return accepts('text/event-stream') ? 'text/event-stream' : null;
}
