import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import type { Json, JsonObject } from '../platform/json.ts';
import { startHttpServer, type TestServer } from './mcp-server.ts';
import { ODD_RESULTS, ODD_TOOLS } from './odd-mcp-values.ts';

/**
 * The ways in which a server may deviate from the protocol, each with its positions; the first position conforms. A
 * server with any combination can be used: its tool `good` can be found and called.
 */
export const ODD_SWITCHES = {
  transport: ['json', 'events', 'sse'],
  /** The content type of an answer that is not a stream. */
  type: [
    'application/json',
    'none',
    'text/plain',
    'Application/JSON; charset=utf-8',
    'application/json-rpc',
    'doubled',
  ],
  /** The form of an answer: JSON, or an event. */
  frame: [
    'plain',
    'bom',
    'pretty',
    'crlf',
    'cr',
    'unterminated',
    'comments',
    'named',
    'spaceless',
    'pieces',
    'with-id',
  ],
  envelope: [
    'plain',
    'null-error',
    'empty-error',
    'unknown-members',
    'text-id',
    'null-id',
    'no-id',
    'no-jsonrpc',
    'batch',
    'other-first',
    'null-params-first',
    'answered-twice',
  ],
  greeting: [
    'plain',
    'no-version',
    'number-version',
    'null-version',
    'no-server-info',
    'null-server-info',
    'null-prompts',
    'null-capabilities',
    'no-capabilities',
    'list-capabilities',
    'list-tools',
    'true-tools',
    'null-instructions',
    'number-instructions',
    'no-protocol',
    'unknown-members',
  ],
  cursor: ['none', 'null', 'empty', 'false', 'pages', 'numbers', 'same', 'loop', 'new', 'object', 'no-list'],
  tool: Object.keys(ODD_TOOLS) as [string, ...string[]],
  /** Whether the odd tool is listed before the good one. */
  place: ['after', 'before'],
  result: Object.keys(ODD_RESULTS) as [string, ...string[]],
  /** How a call fails, if it does. */
  failure: ['none', 'is-error', 'details', 'error', 'error-with-data', 'text-error', 'text-code', 'no-message', 'http'],
  progress: ['none', 'plain', 'null-total', 'text-numbers', 'nothing'],
} as const satisfies Record<string, readonly string[]>;

export type OddSwitches = { [Name in keyof typeof ODD_SWITCHES]: (typeof ODD_SWITCHES)[Name][number] };

const BY_THE_BOOK = Object.fromEntries(
  Object.entries(ODD_SWITCHES).map(([name, positions]) => [name, positions[0]]),
) as OddSwitches;

export type OddServer = TestServer & {
  /** Sets the switches for sessions that start from now on; switches that are not named conform to the protocol. */
  set(switches: Partial<OddSwitches>): void;
};

type Message = { id?: number; method?: string; params?: { cursor?: Json; _meta?: { progressToken?: number } } };

/** Starts a scripted MCP server whose switches decide how it deviates from the protocol. It answers every request. */
export async function startOddServer(initial: Partial<OddSwitches> = {}): Promise<OddServer> {
  let switches: OddSwitches = { ...BY_THE_BOOK, ...initial };
  /** The stream of the older transport, and the pending write to it. */
  let stream: ServerResponse | undefined;
  let written = Promise.resolve();
  const server = await startHttpServer(async (request, response, body) => {
    const isOlder = switches.transport === 'sse';
    if (request.method === 'GET' && isOlder) {
      stream = response;
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(`${switches.frame === 'bom' ? '\ufeff' : ''}event: endpoint\ndata: /message\n\n`);
      return;
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (isOlder && request.url === '/mcp') return void response.writeHead(405).end();
    const message = (body ?? {}) as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    if (!isOlder || stream === undefined) return await answer(message, switches, response);
    response.writeHead(202).end();
    const [to, how] = [stream, switches];
    written = written.then(() => answer(message, how, to));
    await written;
  });
  return Object.assign(server, {
    set(next: Partial<OddSwitches>) {
      switches = { ...BY_THE_BOOK, ...next };
    },
  });
}

async function answer(message: Message, switches: OddSwitches, response: ServerResponse): Promise<void> {
  const { id = 0, method } = message;
  const isCall = method === 'tools/call';
  if (isCall && switches.failure === 'http' && switches.transport !== 'sse') {
    const error = { code: -32_000, message: 'no such order', data: { order: 7 } };
    return void response.writeHead(422, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  }
  const progressMessages = isCall ? progressOf(message, switches) : [];
  const messages = [...progressMessages, ...enveloped(id, bodyOf(message, switches), switches)];
  if (switches.transport !== 'json') return await sendEvents(messages, switches, response);
  const value: Json = messages.length === 1 ? (messages[0] ?? null) : messages;
  const text = `${switches.frame === 'bom' ? '\ufeff' : ''}${JSON.stringify(value, null, switches.frame === 'pretty' ? 2 : 0)}`;
  if (switches.type === 'doubled') response.setHeader('content-type', 'application/json, application/json');
  else if (switches.type !== 'none') response.setHeader('content-type', switches.type);
  response.end(text);
}

/** Returns the result, or the error, of a request as members of its answer. */
function bodyOf({ method, params }: Message, switches: OddSwitches): JsonObject {
  switch (method) {
    case 'initialize':
      return { result: greetingOf(switches.greeting) };
    case 'tools/list':
      return { result: pageOf(params?.cursor, switches) };
    case 'tools/call':
      return outcomeOf(switches);
    default:
      return { error: { code: -32_601, message: 'Method not found' } };
  }
}

function greetingOf(greeting: OddSwitches['greeting']): Json {
  const tools = { capabilities: { tools: {} } };
  const base = { protocolVersion: '2025-11-25', serverInfo: { name: 'odd', version: '1' } };
  switch (greeting) {
    case 'plain':
      return { ...base, ...tools };
    case 'no-version':
      return { ...base, ...tools, serverInfo: { name: 'odd' } };
    case 'number-version':
      return { ...base, ...tools, serverInfo: { name: 'odd', version: 1.2, title: null } };
    case 'null-version':
      return { ...base, ...tools, serverInfo: { name: null, version: null } };
    case 'no-server-info':
      return { protocolVersion: base.protocolVersion, ...tools };
    case 'null-server-info':
      return { ...base, ...tools, serverInfo: null };
    case 'null-prompts':
      return { ...base, capabilities: { tools: { listChanged: null }, prompts: null, resources: false, logging: [] } };
    case 'null-capabilities':
      return { ...base, capabilities: null };
    case 'no-capabilities':
      return base;
    case 'list-capabilities':
      return { ...base, capabilities: [] };
    case 'list-tools':
      return { ...base, capabilities: { tools: [] } };
    case 'true-tools':
      return { ...base, capabilities: { tools: true } };
    case 'null-instructions':
      return { ...base, ...tools, instructions: null, _meta: null };
    case 'number-instructions':
      return { ...base, ...tools, instructions: 7 };
    case 'no-protocol':
      return { ...tools, serverInfo: base.serverInfo };
    case 'unknown-members':
      return { ...base, ...tools, extensions: [null], resultType: 'complete' };
  }
}

/** The tool that conforms to the protocol. */
const GOOD = { name: 'good', inputSchema: { type: 'object' } };
/** More pages than any real list has; the client must stop first. */
const PAGES = 1_000;

function pageOf(cursor: Json | undefined, { cursor: how, tool, place }: OddSwitches): Json {
  const oddTool = ODD_TOOLS[tool] ?? null;
  const tools: Json[] = place === 'before' ? [oddTool, GOOD] : [GOOD, oddTool];
  const page = Number(cursor ?? 0);
  switch (how) {
    case 'none':
      return { tools };
    case 'null':
      return { tools, nextCursor: null };
    case 'empty':
      return { tools, nextCursor: '' };
    case 'false':
      return { tools, nextCursor: false, _meta: null };
    case 'pages':
      return page === 0 ? { tools: tools.slice(0, 1), nextCursor: '1' } : { tools: tools.slice(1) };
    case 'numbers':
      return cursor === 1 ? { tools: tools.slice(1) } : { tools: tools.slice(0, 1), nextCursor: 1 };
    case 'same':
      return { tools, nextCursor: 'again' };
    case 'loop':
      return { tools: page % 2 === 0 ? tools : [], nextCursor: String((page + 1) % 3) };
    case 'new':
      return { tools, nextCursor: String(Math.min(page + 1, PAGES)) };
    case 'object':
      return { tools, nextCursor: { page: 2 } };
    case 'no-list':
      return page === 0 ? { tools, nextCursor: '1' } : { tools: 'none' };
  }
}

function outcomeOf({ failure, result }: OddSwitches): JsonObject {
  switch (failure) {
    case 'none':
      return { result: ODD_RESULTS[result] ?? null };
    case 'is-error':
      return { result: { isError: true, content: 'no such order' } };
    case 'details':
      return { result: { isError: true, content: null, structuredContent: { order: 7 } } };
    case 'error':
      return { error: { code: -32_000, message: 'no such order' } };
    case 'error-with-data':
    case 'http':
      return { error: { code: -32_602, message: 'no such order', data: { order: 7 } }, result: null };
    case 'text-error':
      return { error: 'no such order' };
    case 'text-code':
      return { error: { code: '-32602', message: 'no such order', data: null } };
    case 'no-message':
      return { error: { code: null, message: null, reason: 'no such order' } };
  }
}

function enveloped(id: number, body: JsonObject, { envelope }: OddSwitches): JsonObject[] {
  const plain = { jsonrpc: '2.0', id, ...body };
  switch (envelope) {
    case 'plain':
      return [plain];
    case 'null-error':
      return [{ error: null, ...plain }];
    case 'empty-error':
      return [{ error: { code: null, message: '' }, ...plain }];
    case 'unknown-members':
      return [{ ...plain, method: null, params: null, took_ms: 3 }];
    case 'text-id':
      return [{ ...plain, id: String(id) }];
    case 'null-id':
      return [{ ...plain, id: null }];
    case 'no-id':
      return [{ jsonrpc: '2.0', ...body }];
    case 'no-jsonrpc':
      return [{ id, ...body }];
    case 'batch':
      return [{ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'hi' } }, plain];
    case 'other-first':
      return [{ jsonrpc: '2.0', id: 'another', result: {} }, plain];
    case 'null-params-first':
      return [{ jsonrpc: '2.0', id: null, method: 'notifications/tools/list_changed', params: null }, plain];
    case 'answered-twice':
      return [plain, { ...plain, result: {}, error: null }];
  }
}

function progressOf({ params }: Message, { progress }: OddSwitches): JsonObject[] {
  const progressToken = params?._meta?.progressToken ?? 0;
  const progressNotification = (more: JsonObject) => [
    { jsonrpc: '2.0', method: 'notifications/progress', params: more },
  ];
  switch (progress) {
    case 'none':
      return [];
    case 'plain':
      return progressNotification({ progressToken, progress: 1, total: 2, message: 'half' });
    case 'null-total':
      return progressNotification({ progressToken, progress: 1, total: null, message: null });
    case 'text-numbers':
      return progressNotification({ progressToken: String(progressToken), progress: '1', total: '2' });
    case 'nothing':
      return [{ jsonrpc: '2.0', method: 'notifications/progress', params: null }];
  }
}

async function sendEvents(
  messages: readonly JsonObject[],
  { transport, frame }: OddSwitches,
  response: ServerResponse,
): Promise<void> {
  if (!response.headersSent) response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' });
  // Only the start of a stream may have a byte order mark.
  const mark = frame === 'bom' && transport !== 'sse' ? '\ufeff' : '';
  const texts = messages.map((message, at) => framed(message, frame, at === messages.length - 1));
  // A stream with several answers must mark the end of each.
  const text = mark + texts.join('') + (transport === 'sse' && frame === 'unterminated' ? '\n\n' : '');
  if (frame === 'pieces') {
    for (let at = 0; at < text.length; at += 16) {
      response.write(text.slice(at, at + 16));
      await setImmediate();
    }
  } else response.write(text);
  if (transport !== 'sse') response.end();
}

function framed(message: JsonObject, frame: OddSwitches['frame'], isLast: boolean): string {
  const text = JSON.stringify(message);
  switch (frame) {
    case 'plain':
    case 'pieces':
    case 'bom':
      return `event: message\ndata: ${text}\n\n`;
    case 'pretty':
      return `data: ${JSON.stringify(message, null, 2).replaceAll('\n', '\ndata: ')}\n\n`;
    case 'crlf':
      return `data: ${text}\r\n\r\n`;
    case 'cr':
      return `data: ${text}\r\r`;
    case 'unterminated':
      return `data: ${text}${isLast ? '' : '\n\n'}`;
    case 'comments':
      return `: ping\n\n: ping\ndata: ${text}\n\n`;
    case 'named':
      return `event: response\ndata: ${text}\n\n`;
    case 'spaceless':
      return `data:${text}\n\n`;
    case 'with-id':
      return `retry: 10\nid: ${isLast ? 2 : 1}\ndata: ${text}\n\n`;
  }
}
