import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json, JsonObject } from '../platform/json.ts';
import { type Dialect, dialectOf, type StreamError, type StreamEvent } from './model-dialects.ts';

/** The server's answer to a request. Without `status` it is a stream of the text's pieces in the format of the path. */
export type ScriptedReply = {
  /** The pieces are sent one by one; with an async iterable the test decides when. */
  text?: string | Iterable<string> | AsyncIterable<string>;
  /** null: the server sends none. */
  usage?: { input: number; output: number } | null;
  finish?: 'stop' | 'length' | 'filter';
  model?: string;
  /** An error before the stream: an object in the provider's format, or `body` unchanged. */
  status?: number;
  headers?: Record<string, string>;
  message?: string;
  /** OpenAI's `error.code`. */
  code?: string;
  body?: string;
  /** Declines after the text, with this reason, in the provider's own way. */
  refusal?: string;
  /** An error after the text, in the format of the provider's streams. */
  streamError?: StreamError;
  /** How frames are sent: with the line ends of Windows, or a byte or two at a time. */
  frames?: 'crlf' | 'bytes';
  /** Sent unchanged after the text, instead of the end. */
  raw?: string;
  /** Ends the connection after the text, without an end of the stream. */
  hangUp?: true;
};

export type RecordedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: JsonObject;
  /** Settles if the client disconnects before the answer is complete. */
  left: Promise<void>;
};

export type ModelServer = {
  /** The base URL without a path; `/v1` is OpenAI's, Anthropic's and Mistral's base, `/v1beta` Google's. */
  url: string;
  requests: RecordedRequest[];
  /** Sets the answers to the next requests; default "Hello.". */
  reply(script: ScriptedReply | ((request: RecordedRequest) => ScriptedReply)): void;
  /** The only key that is accepted; default: any, or none. */
  expectKey(key: string): void;
  close(): Promise<void>;
};

/**
 * Starts a real HTTP server that speaks the formats of OpenAI (responses, chat completions), Anthropic,
 * Google and Mistral, streaming.
 */
export async function startModelServer({ port = 0 } = {}): Promise<ModelServer> {
  const requests: RecordedRequest[] = [];
  let script: (request: RecordedRequest) => ScriptedReply = () => ({ text: 'Hello.' });
  let key: string | undefined;
  const server = createServer((request, response) => {
    serve(request, response).catch(error => response.destroy(error));
  });
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await record(request, response);
    requests.push(recorded);
    const dialect = dialectOf(recorded);
    if (dialect === undefined) return answer(response, 404, { error: { message: `There is no ${recorded.path}.` } });
    if (key !== undefined && dialect.key(recorded.headers) !== key) {
      return answer(response, 401, dialect.error(401, `Incorrect API key provided: ${dialect.key(recorded.headers)}`));
    }
    if (recorded.method === 'GET') return answer(response, 200, dialect.models(['tiny', 'large']));
    await sendReply(response, dialect, script(recorded));
  }
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    reply(next) {
      script = typeof next === 'function' ? next : () => next;
    },
    expectKey(only) {
      key = only;
    },
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

async function record(request: IncomingMessage, response: ServerResponse): Promise<RecordedRequest> {
  const left = new Promise<void>(resolve =>
    response.on('close', () => {
      if (!response.writableFinished) resolve();
    }),
  );
  const { method = '', url = '', headers } = request;
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  return { method, path: url, headers, body: text === '' ? {} : JSON.parse(text), left };
}

function answer(response: ServerResponse, status: number, body: Json, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

async function sendReply(response: ServerResponse, dialect: Dialect, reply: ScriptedReply): Promise<void> {
  if (reply.status !== undefined) {
    if (reply.body === undefined) {
      return answer(
        response,
        reply.status,
        dialect.error(reply.status, reply.message ?? 'It went wrong.', reply.code),
        reply.headers,
      );
    }
    response.writeHead(reply.status, { 'Content-Type': 'text/html', ...reply.headers }).end(reply.body);
    return;
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', ...reply.headers });
  const about = { model: reply.model ?? 'tiny-2026', finish: reply.finish ?? 'stop', usage: usageOf(reply) } as const;
  const sendAll = async (events: readonly StreamEvent[]): Promise<void> => {
    for (const event of events) await send(response, event, reply.frames);
  };
  await sendAll(dialect.begin(about));
  const { text = '' } = reply;
  let whole = '';
  for await (const piece of typeof text === 'string' ? [text] : text) {
    if (response.destroyed) return;
    whole += piece;
    await sendAll([dialect.piece(piece, about)]);
  }
  if (reply.hangUp) return void response.destroy();
  if (reply.raw !== undefined) return void response.end(reply.raw);
  if (reply.streamError !== undefined) await sendAll([dialect.fail(reply.streamError)]);
  else await sendAll(reply.refusal === undefined ? dialect.end(whole, about) : dialect.refuse(reply.refusal, about));
  response.end();
}

const usageOf = ({ usage }: ScriptedReply) => (usage === undefined ? { input: 12, output: 3 } : usage);

/** Resolves when more can be sent, so that a long answer does not accumulate in memory. */
async function send(response: ServerResponse, { event, data }: StreamEvent, frames?: 'crlf' | 'bytes'): Promise<void> {
  const frame = `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
  const bytes = Buffer.from(frames === 'crlf' ? frame.replaceAll('\n', '\r\n') : frame);
  const size = frames === 'bytes' ? 2 : bytes.length;
  for (let at = 0; at < bytes.length; at += size) {
    if (response.destroyed) return;
    if (!response.write(bytes.subarray(at, at + size))) await drained(response);
  }
}

async function drained(response: ServerResponse): Promise<void> {
  await new Promise<void>(resolve => {
    const resume = () => {
      response.off('drain', resume).off('close', resume);
      resolve();
    };
    response.on('drain', resume).on('close', resume);
  });
}
