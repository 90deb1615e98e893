import { get } from 'node:http';
import type { UIMessageChunk } from 'ai';
import { STREAM_DONE } from '../operation/operation.ts';

export type ReceivedChunk = { id: string | null; chunk: UIMessageChunk };
/** One connection to a stream of server-sent events. */
export type SseConnection = {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The events that have arrived completely so far. */
  received: ReceivedChunk[];
  /** Resolves once this many bytes have arrived, or the stream has ended. */
  bytes(count: number): Promise<void>;
  ended: Promise<void>;
  /** Ends the connection at any point. */
  cut(): void;
};

/** Opens a stream, and reads it as the bytes arrive. */
export function openSse(url: string, headers: Record<string, string>): Promise<SseConnection> {
  const { promise, resolve, reject } = Promise.withResolvers<SseConnection>();
  const request = get(url, { headers: { Accept: 'text/event-stream', ...headers } }, response => {
    const received: ReceivedChunk[] = [];
    const waiting: { count: number; resolve: () => void }[] = [];
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let text = '';
    let count = 0;
    const wake = (isEnd: boolean) => {
      for (const each of waiting) if (isEnd || count >= each.count) each.resolve();
    };
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      text += part;
      count += Buffer.byteLength(part);
      for (let at = text.indexOf('\n\n'); at >= 0; at = text.indexOf('\n\n')) {
        const event = parseEvent(text.slice(0, at));
        if (event !== null) received.push(event);
        text = text.slice(at + 2);
      }
      wake(false);
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      wake(true);
      end();
    });
    resolve({
      status: response.statusCode ?? 0,
      headers: response.headers,
      received,
      bytes: wanted =>
        new Promise(done =>
          count >= wanted || response.closed ? done() : waiting.push({ count: wanted, resolve: done }),
        ),
      ended,
      cut: () => request.destroy(),
    });
  });
  request.on('error', reject);
  return promise;
}

function parseEvent(text: string): ReceivedChunk | null {
  const fields = new Map(
    text.split('\n').map(line => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
  );
  const data = fields.get('data');
  return data === undefined || data === STREAM_DONE ? null : { id: fields.get('id') ?? null, chunk: JSON.parse(data) };
}
