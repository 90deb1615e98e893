import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { answerChat, estimatedTokens } from './chat-answer.ts';
import { demoAnswer } from './demo.ts';
import { DEFAULT_DIMENSIONS, Embedder } from './embeddings.ts';
import { filled } from './references.ts';
import { type Answer, ChatRequest, Script, Scripted, type ScriptInput, textOf } from './script.ts';

/** The maximum number of recorded requests. A server that runs for days drops the oldest ones. */
const MAX_RECORDED = 10_000;

export type RecordedRequest = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The parsed body, or its text if it is not JSON. */
  body: unknown;
  /** The bytes of the body. */
  text: string;
  /** Settles if the client disconnects before the answer is complete. */
  left: Promise<void>;
};

export type FakeModel = {
  /** The base URL of an `openai_compatible` key, `/v1` included. */
  url: string;
  requests: RecordedRequest[];
  /** Replaces the script: its answers start over, and all gates are closed. Throws ZodError if the script is invalid. */
  script(script: ScriptInput): void;
  /** Opens a gate for waiting answers and for later ones. */
  release(gate: string): void;
  /** Resolves as soon as an answer waits at the gate. */
  held(gate: string): Promise<void>;
  close(): Promise<void>;
};

const EmbeddingsRequest = z.object({
  model: z.string(),
  input: z.union([z.string(), z.array(z.string())]),
  dimensions: z.number().int().min(1).max(4_096).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
});

/**
 * Starts an OpenAI-compatible server that answers by a script (docs/fake-model.md). Without a script, it is a demonstration that uses
 * tools. It listens only on this machine. `port` 0 selects a free one.
 */
export async function startFakeModel({
  port = 0,
  script = {},
}: {
  port?: number;
  script?: ScriptInput;
} = {}): Promise<FakeModel> {
  const fake = new Fake();
  fake.load(script);
  const server = createServer((request, response) => {
    fake.serve(request, response).catch(error => response.destroy(error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests: fake.requests,
    script: next => fake.load(next),
    release: gate => fake.gates.release(gate),
    held: gate => fake.gates.held(gate),
    async close() {
      server.closeAllConnections();
      await new Promise(resolve => server.close(resolve));
    },
  };
}

/** Named gates at which answers wait. */
class Gates {
  readonly #open = new Set<string>();
  readonly #waiting = new Map<string, Set<() => void>>();
  #watchers: { gate: string; resolve: () => void }[] = [];

  async hold(gate: string, left: Promise<void>): Promise<void> {
    if (this.#open.has(gate)) return;
    const waiting = this.#waiting.get(gate) ?? new Set();
    this.#waiting.set(gate, waiting);
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    for (const watcher of this.#watchers) if (watcher.gate === gate) watcher.resolve();
    await Promise.race([promise, left]);
    waiting.delete(resolve);
  }

  release(gate: string): void {
    this.#open.add(gate);
    for (const resolve of this.#waiting.get(gate) ?? []) resolve();
  }

  async held(gate: string): Promise<void> {
    if ((this.#waiting.get(gate)?.size ?? 0) > 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const watcher = { gate, resolve };
    this.#watchers.push(watcher);
    await promise;
    this.#watchers = this.#watchers.filter(each => each !== watcher);
  }

  /** Returns the names of gates with waiting answers. */
  names(): string[] {
    return [...this.#waiting].filter(([, waiting]) => waiting.size > 0).map(([name]) => name);
  }

  close(): void {
    this.#open.clear();
  }
}

class Fake {
  readonly requests: RecordedRequest[] = [];
  readonly gates = new Gates();
  #script = Script.parse({});
  #scripted: Scripted | undefined;
  #embedder = new Embedder();

  load(input: ScriptInput): void {
    this.#script = Script.parse(input);
    this.#scripted = this.#script.answers && new Scripted(this.#script.answers);
    this.#embedder = new Embedder(this.#script.synonyms);
    this.gates.close();
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const recorded = await record(request, response);
    const { method, path, body } = recorded;
    if (path.startsWith('/control/')) return this.#control(recorded, response);
    this.requests.push(recorded);
    if (this.requests.length > MAX_RECORDED) this.requests.shift();
    if (method === 'GET' && /^\/v1\/models$/.test(path)) return answer(response, 200, this.#models());
    if (method !== 'POST') return refuse(response, 404, `There is no ${method} ${path}.`);
    if (path === '/v1/embeddings') return this.#embed(body, response);
    if (path !== '/v1/chat/completions') return refuse(response, 404, `There is no ${method} ${path}.`);
    const chat = ChatRequest.safeParse(body);
    if (!chat.success) return refuse(response, 400, z.prettifyError(chat.error));
    const { context_tokens: limit = Number.POSITIVE_INFINITY } = this.#script;
    const tokens = estimatedTokens(chat.data.messages.map(textOf));
    if (tokens > limit)
      return refuse(response, 400, `${tokens} tokens are more than ${limit}.`, 'context_length_exceeded');
    const next = this.#scripted === undefined ? demoAnswer(chat.data) : this.#scripted.next(chat.data);
    // An error that clients do not retry, because the script must change.
    if (next === undefined)
      return refuse(response, 400, 'The script has no answer to this request.', 'script_exhausted');
    return this.#tell(chat.data, next, recorded, response);
  }

  async #tell(chat: ChatRequest, next: Answer, { left }: RecordedRequest, response: ServerResponse): Promise<void> {
    if ('error' in next) {
      const { status, message, code, headers } = next.error;
      return refuse(response, status, message, code, headers);
    }
    await answerChat(response, chat, filled(next, chat), {
      pauseMs: this.#script.pause_ms,
      hold: gate => this.gates.hold(gate, left),
      left,
    });
  }

  #models() {
    return {
      object: 'list',
      data: this.#script.models.map(id => ({ id, object: 'model', created: 0, owned_by: 'baton' })),
    };
  }

  async #embed(body: unknown, response: ServerResponse): Promise<void> {
    const parsed = EmbeddingsRequest.safeParse(body);
    if (!parsed.success) return refuse(response, 400, z.prettifyError(parsed.error));
    const { model, input, dimensions, encoding_format } = parsed.data;
    const texts = [input].flat();
    const data = texts.map((text, index) => {
      const vector = this.#embedder.embed(text, dimensions ?? DEFAULT_DIMENSIONS);
      const packed = () => Buffer.from(Float32Array.from(vector).buffer).toString('base64');
      return { object: 'embedding', index, embedding: encoding_format === 'base64' ? packed() : vector };
    });
    const tokens = Math.ceil(texts.join('').length / 4);
    answer(response, 200, { object: 'list', model, data, usage: { prompt_tokens: tokens, total_tokens: tokens } });
  }

  /** The control API, for scripts and tests in other processes. Refuses pages of browsers, which could read the recorded requests. */
  async #control({ method, path, headers, body }: RecordedRequest, response: ServerResponse): Promise<void> {
    if (headers.origin !== undefined) return refuse(response, 403, 'Pages may not control the fake model.');
    switch (`${method} ${path}`) {
      case 'GET /control/requests': {
        const requests = this.requests.map(({ left: _, headers: { authorization: __, ...rest }, ...each }) => ({
          ...each,
          headers: rest,
        }));
        return answer(response, 200, { requests });
      }
      case 'GET /control/held':
        return answer(response, 200, { gates: this.gates.names() });
      case 'POST /control/release': {
        const gate = z.object({ gate: z.string() }).safeParse(body);
        if (!gate.success) return refuse(response, 400, z.prettifyError(gate.error));
        this.gates.release(gate.data.gate);
        return answer(response, 200, {});
      }
      case 'PUT /control/script': {
        const script = Script.safeParse(body);
        if (!script.success) return refuse(response, 400, z.prettifyError(script.error));
        this.load(script.data);
        return answer(response, 200, {});
      }
      default:
        return refuse(response, 404, `There is no ${method} ${path}.`);
    }
  }
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
  return { method, path: url.replace(/\?.*$/s, ''), headers, body: parseIfJson(text), text, left };
}

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function answer(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  code: string | null = null,
  headers: Record<string, string> = {},
): void {
  const type = status === 429 ? 'rate_limit_error' : status >= 500 ? 'server_error' : 'invalid_request_error';
  answer(response, status, { error: { message, type, param: null, code } }, headers);
}
