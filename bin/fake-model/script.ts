import { z } from 'zod';
import { isJson, type Json } from '../../server/platform/json.ts';

/**
 * The script of the fake model: its answers, as JSON (docs/fake-model.md). A request gets the first answer that matches
 * it and is not used up.
 */

const AnyJson = z.custom<Json>(isJson, 'must be JSON');

const Call = z.strictObject({
  name: z.string(),
  /** A text is sent unchanged, so that it can be malformed. */
  arguments: AnyJson.default({}),
  id: z.string().optional(),
  /** Google's thought signature, which clients must return with the call. */
  signature: z.string().optional(),
});

/** Reports errors of the intended kind only: the first of `kinds` that the value has, or else the last. */
const errorOfKind =
  (kinds: readonly string[]): z.core.$ZodErrorMap<z.core.$ZodIssueInvalidUnion> =>
  issue => {
    const at = kinds.findIndex(kind => Object.hasOwn(Object(issue.input), kind));
    const problems = issue.errors.at(at) ?? [];
    return problems.map(({ path, message }) => [...path, message].join(': ')).join('; ');
  };

const pieceKinds = ['text', 'refusal', 'reasoning', 'calls', 'hold', 'silence', 'hang_up', 'raw'] as const;
const Piece = z.union(
  [
    /** Each item of a list is sent as one piece. */
    z.strictObject({ text: z.union([z.string(), z.array(z.string())]) }),
    /** Declines to answer, in the model's own words. */
    z.strictObject({ refusal: z.string() }),
    z.strictObject({ reasoning: z.union([z.string(), z.array(z.string())]) }),
    /** Several calls are sent alternately, piece by piece. */
    z.strictObject({ calls: z.array(Call).min(1) }),
    /** Waits until the gate of this name is released. */
    z.strictObject({ hold: z.string().min(1) }),
    /** Sends nothing more, and leaves the connection open. */
    z.strictObject({ silence: z.literal(true) }),
    z.strictObject({ hang_up: z.literal(true) }),
    /** Sent unchanged, such as a malformed event. */
    z.strictObject({ raw: z.string() }),
  ],
  { error: errorOfKind(pieceKinds) },
);

const Match = z.strictObject({
  /** A text in the last message. */
  last: z.string().optional(),
  /** A text in any message, or in the instructions. */
  any: z.string().optional(),
  /** The number of answers of the model in the conversation so far. */
  turn: z.number().int().min(0).optional(),
  /** The name of the requested model. */
  model: z.string().optional(),
  /** The name of an offered tool. */
  tool: z.string().optional(),
});

const common = {
  match: Match.optional(),
  /** How often the answer is given. Default: once without `match`, otherwise without limit. */
  times: z.number().int().min(1).optional(),
};
const Said = z.strictObject({
  ...common,
  content: z.array(Piece),
  finish: z.enum(['stop', 'length', 'tool_calls', 'content_filter']).optional(),
  /** null: the answer has no usage. Default: an estimate. */
  usage: z
    .strictObject({
      input: z.number().int().min(0),
      output: z.number().int().min(0),
      cached: z.number().int().min(0).optional(),
      reasoning: z.number().int().min(0).optional(),
    })
    .nullable()
    .optional(),
});
const Refused = z.strictObject({
  ...common,
  error: z.strictObject({
    /** 200: an error inside an answer whose status is a success. */
    status: z.union([z.literal(200), z.number().int().min(400).max(599)]),
    message: z.string().default('The script says so.'),
    /** OpenAI's `error.code`, such as `context_length_exceeded`. */
    code: z.string().optional(),
    headers: z.record(z.string(), z.string()).default({}),
  }),
});

export const Script = z.strictObject({
  /** Default: uses the offered tools, and then answers (demo.ts). */
  answers: z.array(z.union([Refused, Said], { error: errorOfKind(['error', 'content']) })).optional(),
  /** The names in GET /v1/models. */
  models: z.array(z.string()).default(['scripted', 'scripted-embedding']),
  /** More synonyms for the embeddings. */
  synonyms: z.array(z.array(z.string())).default([]),
  /** A longer conversation is refused. The unit is estimated tokens. */
  context_tokens: z.number().int().min(1).optional(),
  /** The pause before each piece, in ms. */
  pause_ms: z.number().min(0).max(60_000).default(0),
});

export type Script = z.output<typeof Script>;
export type ScriptInput = z.input<typeof Script>;
export type Answer = NonNullable<Script['answers']>[number];
export type Said = z.output<typeof Said>;
export type Call = z.output<typeof Call>;
export type Piece = z.output<typeof Piece>;

/** The parts of a request to POST /v1/chat/completions that the script reads. Other fields are only recorded. */
export const ChatRequest = z.object({
  model: z.string(),
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.union([z.string(), z.array(z.object({ text: z.string().optional() }))]).nullish(),
    }),
  ),
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          description: z.string().nullish(),
          parameters: z.record(z.string(), z.unknown()).nullish(),
        }),
      }),
    )
    .optional(),
  tool_choice: z.unknown().optional(),
  response_format: z
    .object({
      type: z.string(),
      json_schema: z.object({ schema: z.record(z.string(), z.unknown()).optional() }).optional(),
    })
    .optional(),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});
export type ChatRequest = z.infer<typeof ChatRequest>;
export type ChatMessage = ChatRequest['messages'][number];

/** Returns the text of all parts of a message. */
export const textOf = ({ content }: ChatMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text }) => text ?? '').join('');

/** Gives the answers of a script in turn, and counts how often each is used. */
export class Scripted {
  readonly #answers: readonly Answer[];
  readonly #given = new Map<Answer, number>();

  constructor(answers: readonly Answer[]) {
    this.#answers = answers;
  }

  /** Returns the answer to a request, and counts it; undefined if the script has none left. */
  next(request: ChatRequest): Answer | undefined {
    const answer = this.#answers.find(each => this.#isLeft(each) && fits(each.match, request));
    if (answer !== undefined) this.#given.set(answer, (this.#given.get(answer) ?? 0) + 1);
    return answer;
  }

  #isLeft(answer: Answer): boolean {
    const times = answer.times ?? (answer.match === undefined ? 1 : Number.POSITIVE_INFINITY);
    return (this.#given.get(answer) ?? 0) < times;
  }
}

function fits(match: z.output<typeof Match> = {}, { model, messages, tools = [] }: ChatRequest): boolean {
  const last = messages.at(-1);
  return (
    (match.last === undefined || (last !== undefined && textOf(last).includes(match.last))) &&
    (match.any === undefined || messages.some(message => textOf(message).includes(match.any ?? ''))) &&
    (match.turn === undefined || messages.filter(({ role }) => role === 'assistant').length === match.turn) &&
    (match.model === undefined || match.model === model) &&
    (match.tool === undefined || tools.some(tool => tool.function.name === match.tool))
  );
}
