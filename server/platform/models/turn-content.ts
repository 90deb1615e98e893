import { cleanText } from '../clean-json.ts';
import type { Json, JsonObject } from '../json.ts';
import { parseAnswerJson } from '../json-text.ts';
import type { RedactedStream, Redactor } from '../secrets/redaction.ts';
import { storageProblem } from '../storable-json.ts';
import { ModelAnswerTooLarge } from './bounded-fetch.ts';
import type { ContentPart, ToolCallPart } from './messages.ts';
import type { StreamPart } from './read-stream.ts';

/** A piece of an answer as it arrives; `index` is the place of its part in the content. */
export type TurnPiece =
  | { type: 'text' | 'reasoning'; index: number; text: string }
  | { type: 'tool_call'; index: number; id: string; name: string }
  | { type: 'arguments'; index: number; text: string };

/** The limit for the parts of an answer as JSON, in bytes of UTF-8: so an answer that was shown fits into a result. */
const MAX_CONTENT_BYTES = 1024 * 1024;
/** Each part beyond FREE_PARTS counts BYTES_PER_PART in addition to its text, because many small parts take memory, too. */
const FREE_PARTS = 256;
const BYTES_PER_PART = 64;
const jsonBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text)) - 2;

type Block = {
  readonly index: number;
  readonly type: 'text' | 'reasoning' | 'tool_call';
  readonly stream: RedactedStream;
  /** The redacted text, as it was passed on. */
  text: string;
  metadata: JsonObject | undefined;
  /** The first half of a surrogate pair, until the second half arrives. */
  half: string;
  ended: boolean;
  /** Whether any of its text has arrived. */
  begun: boolean;
  readonly call?: { id: string; name: string };
};

/**
 * Collects the parts of an answer in their order, and hands on its pieces. Blocks of a provider overlap (parallel calls) and
 * reuse their ids one after the other; a block gets its place with its first content, so that empty ones leave no gap.
 */
export class TurnContentReader {
  readonly #redactor: Redactor;
  readonly #onPiece: (piece: TurnPiece) => void;
  readonly #blocks: Block[] = [];
  /** By the kind and the provider's id. */
  readonly #open = new Map<string, Block>();
  /** Bytes of JSON. */
  #bytes = 0;
  /** Whether more text came than is kept. */
  isCut = false;
  /** The characters that have arrived. */
  written = 0;

  constructor(redactor: Redactor, onPiece: (piece: TurnPiece) => void) {
    this.#redactor = redactor;
    this.#onPiece = onPiece;
  }

  /** Throws ModelAnswerTooLarge when no more fits. If that is a text, what fits of it is kept, and `isCut` is true. */
  take(part: StreamPart): void {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start': {
        const type = part.type === 'text-start' ? 'text' : 'reasoning';
        this.#end(this.#open.get(`${type} ${part.id}`));
        this.#open.delete(`${type} ${part.id}`);
        if (part.providerMetadata !== undefined) this.#note(this.#block(type, part.id), part.providerMetadata);
        return;
      }
      case 'text-delta':
      case 'reasoning-delta':
      case 'text-end':
      case 'reasoning-end':
        this.#takeText(part);
        return;
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.#begin(part.id, part.toolName);
        return;
      case 'tool-input-delta': {
        const block = this.#open.get(`tool_call ${part.id}`);
        if (block !== undefined) this.#append(block, part.delta);
        return;
      }
      case 'tool-call':
        if (part.providerExecuted !== true) this.#call(part);
        return;
      default:
      // Sources, files and the provider's own tools are never requested.
    }
  }

  /** Returns all parts so far. Ends the open one: an answer that was cut leaves its last block open. */
  content(): ContentPart[] {
    for (const block of this.#blocks) this.#end(block);
    return this.#blocks.map(block => this.#partOf(block));
  }

  #takeText(part: Extract<StreamPart, { type: `${'text' | 'reasoning'}-${'delta' | 'end'}` }>): void {
    const type = part.type.startsWith('text') ? 'text' : 'reasoning';
    const delta = 'delta' in part ? part.delta : '';
    if (delta !== '' || part.providerMetadata !== undefined) {
      const block = this.#block(type, part.id);
      this.#note(block, part.providerMetadata);
      this.#append(block, delta);
    }
    if ('delta' in part) return;
    this.#end(this.#open.get(`${type} ${part.id}`));
    this.#open.delete(`${type} ${part.id}`);
  }

  #call({ toolCallId, toolName, input, providerMetadata }: Extract<StreamPart, { type: 'tool-call' }>): void {
    const block = this.#open.get(`tool_call ${toolCallId}`) ?? this.#begin(toolCallId, toolName);
    this.#note(block, providerMetadata);
    // Some providers send a call whole, without its pieces.
    if (!block.begun) this.#append(block, input);
    this.#end(block);
    this.#open.delete(`tool_call ${toolCallId}`);
  }

  #begin(providerId: string, name: string): Block {
    const index = this.#blocks.length;
    const call = { id: providerId, name: this.#redactor.text(cleanText(name)) };
    const block = this.#add('tool_call', providerId, call);
    this.#grow(name);
    this.#onPiece({ type: 'tool_call', index, id: call.id, name: call.name });
    return block;
  }

  #block(type: 'text' | 'reasoning', id: string): Block {
    return this.#open.get(`${type} ${id}`) ?? this.#add(type, id);
  }

  #add(type: Block['type'], id: string, call?: Block['call']): Block {
    const index = this.#blocks.length;
    const stream = this.#redactor.stream();
    if (index >= FREE_PARTS) this.#bytes += BYTES_PER_PART;
    const block = { index, type, stream, text: '', metadata: undefined, half: '', ended: false, begun: false, call };
    this.#blocks.push(block);
    this.#open.set(`${type} ${id}`, block);
    return block;
  }

  /** Stores a block's metadata. Later metadata, such as the signature of a reasoning, replaces earlier metadata. */
  #note(block: Block, metadata: object | undefined): void {
    if (metadata === undefined) return;
    this.#grow(JSON.stringify(metadata));
    block.metadata = this.#redactor.json(metadata as JsonObject) as JsonObject;
  }

  #append(block: Block, delta: string): void {
    if (block.ended || delta === '') return;
    this.written += delta.length;
    const fitting = block.type === 'tool_call' ? this.#whole(delta) : this.#fitting(delta);
    block.begun = true;
    const whole = block.half + fitting;
    const cut = /[\ud800-\udbff]$/.test(whole) ? whole.length - 1 : whole.length;
    block.half = whole.slice(cut);
    this.#emit(block, block.stream.add(cleanText(whole.slice(0, cut))));
    if (this.isCut) throw new ModelAnswerTooLarge('it exceeds 1 MiB');
  }

  /** Returns the text unchanged, or throws if it does not fit: incomplete arguments are useless. */
  #whole(text: string): string {
    this.#grow(text);
    return text;
  }

  /** Returns as much of a text as fits within the limit. */
  #fitting(text: string): string {
    const bytes = jsonBytes(text);
    if (this.#bytes + bytes <= MAX_CONTENT_BYTES) {
      this.#bytes += bytes;
      return text;
    }
    this.isCut = true;
    let [fits, tooMany] = [0, text.length];
    while (tooMany - fits > 1) {
      const middle = (fits + tooMany) >> 1;
      if (this.#bytes + jsonBytes(text.slice(0, middle)) <= MAX_CONTENT_BYTES) fits = middle;
      else tooMany = middle;
    }
    this.#bytes = MAX_CONTENT_BYTES;
    return text.slice(0, fits);
  }

  #end(block: Block | undefined): void {
    if (block === undefined || block.ended) return;
    this.#emit(block, block.stream.add(cleanText(block.half)) + block.stream.end());
    block.ended = true;
  }

  #emit(block: Block, text: string): void {
    if (text === '') return;
    block.text += text;
    this.#onPiece({ type: block.type === 'tool_call' ? 'arguments' : block.type, index: block.index, text });
  }

  #grow(text: string): void {
    this.#bytes += jsonBytes(text);
    if (this.#bytes > MAX_CONTENT_BYTES) throw new ModelAnswerTooLarge('it exceeds 1 MiB');
  }

  #partOf({ type, text, metadata, call }: Block): ContentPart {
    const provider_metadata = metadata === undefined ? {} : { provider_metadata: metadata };
    if (type !== 'tool_call') return { type, text, ...provider_metadata };
    const { id = '', name = '' } = call ?? {};
    return { type, id, name, ...argumentsOf(text), ...provider_metadata };
  }
}

/** Parses the arguments of a call. Models write an empty text if a tool has no arguments. */
function argumentsOf(text: string): Pick<ToolCallPart, 'arguments' | 'malformed' | 'raw'> {
  const value = text.trim() === '' ? {} : parsed(text);
  if (value === undefined || storageProblem(value) !== null) return { arguments: text, malformed: true };
  return text === '' || JSON.stringify(value) === text ? { arguments: value } : { arguments: value, raw: text };
}

function parsed(text: string): Json | undefined {
  try {
    return parseAnswerJson(text);
  } catch {
    return undefined;
  }
}
