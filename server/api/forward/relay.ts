import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { ApiRequest, ApiResponse } from '../request.ts';
import { UnansweredError } from './peers.ts';

/**
 * Headers that concern only one connection (RFC 9110, 7.6.1), and headers that Node itself writes for the next one. The node
 * that received the request has already answered `Expect`.
 */
const HOP_BY_HOP = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-baton-forwarded',
]);

/** Returns whether a header is for the final recipient. `connection`: the message's own header of that name. */
const isEndToEnd = (connection: string | undefined) => {
  const named = new Set(connection?.toLowerCase().split(/[\s,]+/));
  return (name: string) => !HOP_BY_HOP.has(name) && !named.has(name);
};

/** Returns the headers of a request that the next node gets. */
export function requestHeaders({
  headerNames,
  header,
}: Pick<ApiRequest, 'headerNames' | 'header'>): Record<string, string> {
  const passes = isEndToEnd(header('connection'));
  return Object.fromEntries(headerNames().flatMap(name => (passes(name) ? [[name, header(name) ?? '']] : [])));
}

/** Returns the headers of an answer that the client gets, in the case in which they came. */
export function responseHeaders({ headers, rawHeaders }: IncomingMessage): Record<string, string> {
  const passes = isEndToEnd(headers.connection);
  const sent: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (passes(name.toLowerCase())) sent[name] = rawHeaders[at + 1] ?? '';
  }
  return sent;
}

/**
 * Returns another node's answer for the client. An answer of known length is first read completely, so that an incomplete one
 * is not relayed. Throws UnansweredError.
 */
export async function relayed(response: IncomingMessage, { method }: { method: string }): Promise<ApiResponse> {
  const answer = { status: response.statusCode ?? 502, headers: responseHeaders(response), body: null };
  const hasBody = method !== 'HEAD' && answer.status !== 204 && answer.status !== 304;
  const isComplete = response.headers['content-length'] !== undefined || !hasBody;
  if (!isComplete) return { ...answer, relayed: response };
  const bytes = await wholeBody(response);
  return bytes.byteLength === 0 ? answer : { ...answer, relayed: bytes };
}

async function wholeBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (cause) {
    throw new UnansweredError('The answer broke off.', { cause });
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

/**
 * Streams an answer, and reads no faster than the client. Server-sent events that break off between two events end like an
 * interrupted stream of this node, so that the client resumes at its position. Any other answer is aborted.
 */
export function sendRelayed({ status, headers }: ApiResponse, body: Readable, response: ServerResponse): Promise<void> {
  const isEvents = Object.entries(headers).some(
    ([name, value]) => name.toLowerCase() === 'content-type' && value.startsWith('text/event-stream'),
  );
  let last = '';
  return new Promise(resolve => {
    response.once('close', () => {
      body.destroy();
      resolve();
    });
    if (body.destroyed) return void response.destroy();
    response.on('drain', () => body.resume());
    // `close` follows.
    body.on('error', () => undefined);
    body.on('data', (chunk: Buffer) => {
      last = chunk.length > 1 ? chunk.toString('latin1', chunk.length - 2) : last.slice(-1) + chunk.toString('latin1');
      if (!response.write(chunk)) body.pause();
    });
    body.once('close', () => {
      if (body.readableEnded || (isEvents && last === '\n\n')) response.end();
      else response.destroy();
    });
    if (response.destroyed) return void body.destroy();
    response.writeHead(status, headers);
    response.flushHeaders();
  });
}
