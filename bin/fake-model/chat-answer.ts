import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Json, JsonObject } from '../../server/platform/json.ts';
import { type Call, type ChatRequest, type Piece, type Said, textOf } from './script.ts';

/** How many characters of a call's arguments are sent at once. */
const ARGUMENTS_PIECE_LENGTH = 12;
/** Characters that count as a token where the script states no usage. */
const CHARACTERS_PER_TOKEN = 4;

/** The events that an answer waits for: pauses, gates, and the client's departure. */
export type Surroundings = {
  pauseMs: number;
  /** Settles when the gate of this name is released, or the client has left. */
  hold(gate: string): Promise<void>;
  /** Settles when the client has left. */
  left: Promise<void>;
};

/** A change of the streamed message, or bytes that are sent unchanged. */
type Delta = { delta: JsonObject } | { raw: string };
/** How the content ended. */
type Ending = 'complete' | 'gone';

/** Answers a request by the script, as a stream of events if the request asks for one. */
export async function answerChat(
  response: ServerResponse,
  request: ChatRequest,
  said: Said,
  on: Surroundings,
): Promise<void> {
  const about = { id: 'chatcmpl-scripted', created: 0, model: request.model };
  const finish = said.finish ?? (said.content.some(piece => 'calls' in piece) ? 'tool_calls' : 'stop');
  const usage = usageOf(said, request);
  if (request.stream !== true) return answerWhole(response, said, on, { ...about, finish, usage });
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  const chunk = (delta: JsonObject, finish_reason: string | null = null) =>
    send(response, data({ ...about, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] }));
  await chunk({ role: 'assistant', content: '' });
  const ending = await perform(said.content, on, response, change =>
    'raw' in change ? send(response, change.raw) : chunk(change.delta),
  );
  if (ending === 'gone') return;
  await chunk({}, finish);
  if (usage !== null && request.stream_options?.include_usage === true) {
    await send(response, data({ ...about, object: 'chat.completion.chunk', choices: [], usage }));
  }
  response.end('data: [DONE]\n\n');
}

const data = (value: Json): string => `data: ${JSON.stringify(value)}\n\n`;

/** Answers with one JSON document. Pieces that exist only in a stream replace the document. */
async function answerWhole(
  response: ServerResponse,
  said: Said,
  on: Surroundings,
  { finish, usage, ...about }: { id: string; created: number; model: string; finish: string; usage: JsonObject | null },
): Promise<void> {
  let raw = '';
  const ending = await perform(said.content, on, response, async change => {
    if ('raw' in change) raw += change.raw;
  });
  if (ending === 'gone') return;
  response.writeHead(200, { 'Content-Type': 'application/json' });
  if (raw !== '') return void response.end(raw);
  const reasoning = said.content.flatMap(piece => ('reasoning' in piece ? piece.reasoning : [])).join('');
  const refusal = said.content.flatMap(piece => ('refusal' in piece ? piece.refusal : [])).join('');
  const calls = callsOf(said.content).map(({ call, id }) => ({ id, ...functionOf(call, textOfArguments(call)) }));
  const message = {
    role: 'assistant',
    content: said.content.flatMap(piece => ('text' in piece ? piece.text : [])).join(''),
    ...(refusal === '' ? {} : { refusal }),
    ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  const choices = [{ index: 0, message, finish_reason: finish }];
  response.end(JSON.stringify({ ...about, object: 'chat.completion', choices, ...(usage === null ? {} : { usage }) }));
}

/** Performs the pieces in order. Returns `gone` if the client has left, or the script has hung up. */
async function perform(
  content: readonly Piece[],
  on: Surroundings,
  response: ServerResponse,
  emit: (delta: Delta) => Promise<void>,
): Promise<Ending> {
  const calls = callsOf(content);
  for (const piece of content) {
    if (response.destroyed) return 'gone';
    if ('hold' in piece) await on.hold(piece.hold);
    else if ('silence' in piece) await on.left;
    else if ('hang_up' in piece) response.destroy();
    else {
      for (const delta of deltasOf(piece, calls)) {
        if (on.pauseMs > 0) await Promise.race([pause(on.pauseMs), on.left]);
        if (response.destroyed) return 'gone';
        await emit(delta);
      }
    }
  }
  return response.destroyed ? 'gone' : 'complete';
}

type Numbered = { call: Call; index: number; id: string };

/** Returns all calls of an answer, numbered from 0 across its pieces. */
function callsOf(content: readonly Piece[]): Numbered[] {
  return content
    .flatMap(piece => ('calls' in piece ? piece.calls : []))
    .map((call, index) => ({ call, index, id: call.id ?? `call_${index + 1}` }));
}

function deltasOf(piece: Piece, calls: readonly Numbered[]): Delta[] {
  if ('text' in piece) return [piece.text].flat().map(content => ({ delta: { content } }));
  if ('refusal' in piece) return [{ delta: { refusal: piece.refusal } }];
  if ('reasoning' in piece) return [piece.reasoning].flat().map(text => ({ delta: { reasoning_content: text } }));
  if ('raw' in piece) return [{ raw: piece.raw }];
  if (!('calls' in piece)) return [];
  const own = calls.filter(({ call }) => piece.calls.includes(call));
  const begun = own.map(({ call, index, id }) => ({ index, id, ...functionOf(call, '') }));
  const parts = own.map(({ call }) => piecesOf(textOfArguments(call)));
  const rounds = Math.max(...parts.map(({ length }) => length));
  // Alternating: the first piece of each call, then the second piece of each, as providers send parallel calls.
  const rest = Array.from({ length: rounds }, (_, round) =>
    own.flatMap(({ index }, at) => {
      const text = parts[at]?.[round];
      return text === undefined ? [] : [{ index, function: { arguments: text } }];
    }),
  );
  return [...begun, ...rest.flat()].map(call => ({ delta: { tool_calls: [call] } }));
}

function functionOf({ name, signature }: Call, text: string): JsonObject {
  return {
    type: 'function',
    function: { name, arguments: text },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  };
}

const textOfArguments = ({ arguments: args }: Call): string => (typeof args === 'string' ? args : JSON.stringify(args));

function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += ARGUMENTS_PIECE_LENGTH)
    pieces.push(text.slice(at, at + ARGUMENTS_PIECE_LENGTH));
  return pieces;
}

/** Estimates the tokens of texts, roughly as providers count them. */
export function estimatedTokens(texts: readonly string[]): number {
  return Math.ceil(texts.join('').length / CHARACTERS_PER_TOKEN);
}

function usageOf({ usage, content }: Said, { messages }: ChatRequest): JsonObject | null {
  if (usage === null) return null;
  const said = content.flatMap(piece => ('text' in piece ? piece.text : 'reasoning' in piece ? piece.reasoning : []));
  const called = callsOf(content).map(({ call }) => call.name + textOfArguments(call));
  const {
    input,
    output,
    cached = 0,
    reasoning = 0,
  } = usage ?? {
    input: estimatedTokens(messages.map(textOf)),
    output: estimatedTokens([...said, ...called]),
  };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
}

/** Sends a frame, and resolves when there is room for more, so that a long answer is not buffered. */
async function send(response: ServerResponse, frame: string): Promise<void> {
  if (response.destroyed || response.write(frame)) return;
  await new Promise<void>(resolve => {
    const resume = () => {
      response.off('drain', resume).off('close', resume);
      resolve();
    };
    response.on('drain', resume).on('close', resume);
  });
}
