import type { IncomingHttpHeaders } from 'node:http';
import type { Json, JsonObject } from '../platform/json.ts';

/** One server-sent event; `data` that is text is sent unchanged. */
export type StreamEvent = { event?: string; data: Json };
type About = { model: string; finish: 'stop' | 'length' | 'filter'; usage: { input: number; output: number } | null };

/** The wire format of one provider (from its API reference; field names as on the wire). */
export type Dialect = {
  /** The key that a request carries. */
  key(headers: IncomingHttpHeaders): string | undefined;
  error(status: number, message: string, code?: string): JsonObject;
  models(names: string[]): JsonObject;
  begin(about: About): StreamEvent[];
  piece(text: string, about: About): StreamEvent;
  end(text: string, about: About): StreamEvent[];
  /** The end of an answer that the model or its safety system refuses to give, with the reason. */
  refuse(reason: string, about: About): StreamEvent[];
  /** An error in the middle of a stream. */
  fail(error: StreamError): StreamEvent;
};

/** `type` is the provider's own name of the error. */
export type StreamError = { message: string; type?: string; status?: number };

const bearer = ({ authorization }: IncomingHttpHeaders) => authorization?.replace(/^Bearer /, '');
const openAiError: Dialect['error'] = (_, message, code) => ({
  error: { message, type: 'error', param: null, code: code ?? null },
});
const openAiModels: Dialect['models'] = names => ({
  object: 'list',
  data: names.map(id => ({ id, object: 'model', created: 0, owned_by: 'test' })),
});

/** POST /v1/responses. */
const responses: Dialect = {
  key: bearer,
  error: openAiError,
  models: openAiModels,
  begin: ({ model }) => [
    numbered('response.created', { response: { id: 'resp_1', object: 'response', created_at: 0, model, output: [] } }),
    numbered('response.output_item.added', {
      output_index: 0,
      item: { type: 'message', id: 'msg_1', status: 'in_progress', role: 'assistant', content: [] },
    }),
  ],
  piece: delta =>
    numbered('response.output_text.delta', {
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [],
    }),
  end: (text, { model, finish, usage }) => {
    const type = finish === 'stop' ? 'response.completed' : 'response.incomplete';
    const reason = finish === 'length' ? 'max_output_tokens' : 'content_filter';
    const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
    const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content };
    const response = {
      id: 'resp_1',
      object: 'response',
      created_at: 0,
      model,
      output: [item],
      incomplete_details: finish === 'stop' ? null : { reason },
      usage: usage && {
        input_tokens: usage.input,
        input_tokens_details: { cached_tokens: 0 },
        output_tokens: usage.output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: usage.input + usage.output,
      },
    };
    return [numbered('response.output_item.done', { output_index: 0, item }), numbered(type, { response })];
  },
  refuse: (refusal, about) => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    return [
      numbered('response.refusal.delta', { ...at, delta: refusal }),
      numbered('response.refusal.done', { ...at, refusal }),
      ...responses.end('', { ...about, finish: 'stop' }),
    ];
  },
  fail: ({ message, type = 'server_error' }) => numbered('error', { message, code: type, param: null }),
};

function numbered(type: string, fields: JsonObject): StreamEvent {
  return { event: type, data: { type, sequence_number: 0, ...fields } };
}

/** POST /v1/chat/completions. */
const chat: Dialect = {
  key: bearer,
  error: openAiError,
  models: openAiModels,
  begin: ({ model }) => [chunk(model, { role: 'assistant', content: '' }, null)],
  piece: (content, { model }) => chunk(model, { content }, null),
  end: (_, { model, finish, usage }) => {
    const last = chunk(model, {}, finish === 'filter' ? 'content_filter' : finish);
    const counts = usage && {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 0,
      model,
      choices: [],
      usage: {
        prompt_tokens: usage.input,
        completion_tokens: usage.output,
        total_tokens: usage.input + usage.output,
      },
    };
    return [last, ...(counts ? [{ data: counts }] : []), { data: '[DONE]' }];
  },
  refuse: (refusal, about) => [chunk(about.model, { refusal }, null), ...chat.end('', { ...about, finish: 'stop' })],
  fail: ({ message, type = 'server_error', status }) => ({ data: { error: { message, type, code: status ?? null } } }),
};

function chunk(model: string, delta: JsonObject, finish_reason: string | null): StreamEvent {
  return {
    data: {
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason }],
    },
  };
}

/** POST /v1/chat/completions in Mistral's variant: counts come with the last choice. */
const mistral: Dialect = {
  ...chat,
  error: (_, message) => ({ object: 'error', message, type: 'invalid_request', param: null, code: null }),
  end: (_, { model, finish, usage }) => {
    const { data } = chunk(model, { content: '' }, finish === 'length' ? 'length' : 'stop');
    const counts = usage && {
      prompt_tokens: usage.input,
      completion_tokens: usage.output,
      total_tokens: usage.input + usage.output,
    };
    return [{ data: { ...(data as JsonObject), ...(counts ? { usage: counts } : {}) } }, { data: '[DONE]' }];
  },
  refuse: (refusal, about) => [
    chunk(about.model, { content: refusal }, null),
    chunk(about.model, {}, 'content_filter'),
  ],
};

/** POST /v1/messages. */
const anthropic: Dialect = {
  key: headers => (headers['anthropic-version'] ? String(headers['x-api-key']) : undefined),
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 429 ? 'rate_limit_error' : 'invalid_request_error', message },
  }),
  models: names => ({ data: names.map(id => ({ type: 'model', id, display_name: id })), has_more: false }),
  begin: ({ model, usage }) => [
    typed('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: usage?.input ?? 0, output_tokens: 1 },
      },
    }),
    typed('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    typed('ping', {}),
  ],
  piece: text => typed('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }),
  end: (_, { finish, usage }) => [
    typed('content_block_stop', { index: 0 }),
    typed('message_delta', {
      delta: {
        stop_reason: { stop: 'end_turn', length: 'max_tokens', filter: 'refusal' }[finish],
        stop_sequence: null,
      },
      usage: { output_tokens: usage?.output ?? 0 },
    }),
    typed('message_stop', {}),
  ],
  refuse: (explanation, { usage }) => [
    typed('message_delta', {
      delta: {
        stop_reason: 'refusal',
        stop_sequence: null,
        stop_details: { type: 'refusal', category: 'cyber', explanation },
      },
      usage: { output_tokens: usage?.output ?? 0 },
    }),
    typed('message_stop', {}),
  ],
  fail: ({ message, type = 'api_error' }) => typed('error', { error: { type, message } }),
};

function typed(type: string, fields: JsonObject): StreamEvent {
  return { event: type, data: { type, ...fields } };
}

/** POST /v1beta/models/{model}:streamGenerateContent?alt=sse. */
const google: Dialect = {
  key: headers => headers['x-goog-api-key']?.toString(),
  error: (code, message) => ({ error: { code, message, status: 'INVALID_ARGUMENT' } }),
  models: names => ({ models: names.map(name => ({ name: `models/${name}`, displayName: name })) }),
  begin: () => [],
  piece: text => ({ data: { candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0 }] } }),
  end: (_, { model, finish, usage }) => [
    {
      data: {
        candidates: [
          {
            content: { role: 'model', parts: [{ text: '' }] },
            index: 0,
            finishReason: { stop: 'STOP', length: 'MAX_TOKENS', filter: 'SAFETY' }[finish],
          },
        ],
        modelVersion: model,
        ...(usage && {
          usageMetadata: {
            promptTokenCount: usage.input,
            candidatesTokenCount: usage.output,
            totalTokenCount: usage.input + usage.output,
          },
        }),
      },
    },
  ],
  refuse: (finishMessage, { usage }) => [
    {
      data: {
        candidates: [
          {
            index: 0,
            finishReason: 'SAFETY',
            finishMessage,
            safetyRatings: [{ category: 'HARM_CATEGORY_DANGEROUS_CONTENT', probability: 'HIGH', blocked: true }],
          },
        ],
        ...(usage && { usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output } }),
      },
    },
  ],
  fail: ({ message, type = 'INTERNAL', status = 500 }) => ({
    data: { error: { code: status, message, status: type } },
  }),
};

/** Returns the format of a path; `/mistral/v1` is Mistral's base, since its path is the same as OpenAI's. */
export function dialectOf({ method, path, headers }: { method: string; path: string; headers: IncomingHttpHeaders }) {
  if (path.startsWith('/mistral/v1/')) return mistral;
  if (method === 'GET' && /^\/v1\/models\b/.test(path)) return headers['anthropic-version'] ? anthropic : responses;
  if (path === '/v1/responses') return responses;
  if (path === '/v1/chat/completions') return chat;
  if (path === '/v1/messages') return anthropic;
  if (path.startsWith('/v1beta/models')) return google;
  return undefined;
}
