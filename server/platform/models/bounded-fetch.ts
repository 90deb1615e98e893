import { NotAStream } from './provider-errors.ts';

/** The limit for an error response: a provider's message is far shorter, and a proxy's page is cut. */
const MAX_ERROR_BYTES = 64 * 1024;
/**
 * The limit for a whole answer on the wire. A token takes about 250 bytes as an event, so 1 MiB of text takes about 64
 * MiB.
 */
const MAX_ANSWER_BYTES = 128 * 1024 * 1024;
/**
 * The limit for one event: the largest contains a whole answer once more, escaped. The parser keeps one event in memory
 * and parses it immediately.
 */
const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** The error for an answer that exceeds the limits. */
export class ModelAnswerTooLarge extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ModelAnswerTooLarge';
  }
}

/**
 * Returns a fetch whose answers are limited: an error's body is cut to 64 KiB, and any other ends with ModelAnswerTooLarge
 * after 128 MiB or a line of 8 MiB. With `events`, an answer that is JSON or a page instead ends with NotAStream. Redirects are
 * not followed: no provider's API uses them, and a key must not be sent to another address.
 */
export function boundedFetch(fetch: typeof globalThis.fetch, { events = false } = {}): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, redirect: 'manual' });
    const { status, statusText, headers } = response;
    if (response.body === null) return response;
    const body = response.ok ? limited(response.body, events) : await readSome(response.body, MAX_ERROR_BYTES);
    return new Response(body, { status, statusText, headers });
  };
}

type Bytes = Uint8Array<ArrayBuffer>;

/** Reads on demand rather than through a TransformStream, whose two queues would be a large part of the cost of a token. */
function limited(body: ReadableStream<Bytes>, events: boolean): ReadableStream<Bytes> {
  const reader = body.getReader();
  let isBegun = !events;
  let total = 0;
  let line = 0;
  return new ReadableStream<Bytes>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return;
        }
        if (!isBegun) {
          const first = firstCharacter(value);
          isBegun = first !== undefined;
          if (first !== undefined && NO_EVENT.has(first)) throw await noStream(value, reader);
        }
        total += value.byteLength;
        const end = value.lastIndexOf(0x0a);
        line = end === -1 ? line + value.byteLength : value.byteLength - end - 1;
        if (total <= MAX_ANSWER_BYTES && line <= MAX_LINE_BYTES) {
          controller.enqueue(value);
          return;
        }
        const tooLarge = new ModelAnswerTooLarge('it is larger than any answer of a model');
        await reader.cancel(tooLarge);
        throw tooLarge;
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** The first bytes of JSON objects, lists and HTML pages; no line of an event stream (HTML, 9.2.5) begins with one of them. */
const NO_EVENT: ReadonlySet<number> = new Set(Buffer.from('{[<'));
/** The bytes of white space, and those of a byte order mark. */
const SKIPPED: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

const firstCharacter = (bytes: Bytes): number | undefined => bytes.find(byte => !SKIPPED.has(byte));

async function noStream(begin: Bytes, reader: ReadableStreamDefaultReader<Bytes>): Promise<NotAStream> {
  const parts = [begin];
  let size = begin.byteLength;
  while (size < MAX_ERROR_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.byteLength;
  }
  const error = new NotAStream(
    Buffer.concat(parts)
      .toString()
      .replace(/^\ufeff/, ''),
  );
  await reader.cancel(error);
  return error;
}

/** The first bytes of a body, at most `most`; the rest is not read. */
export async function readSome(body: ReadableStream<Uint8Array<ArrayBuffer>>, most: number): Promise<Blob> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of body) {
    parts.push(chunk.subarray(0, most - size));
    size += chunk.byteLength;
    if (size >= most) break;
  }
  return new Blob(parts);
}
