import { cleanText } from '../clean-json.ts';
import type { Json, JsonObject } from '../json.ts';
import { parseAnswerJson } from '../json-text.ts';
import type { RedactedStream, Redactor } from '../secrets/redaction.ts';
import { storageProblem } from '../storable-json.ts';
import { ModelAnswerTooLarge } from './bounded-fetch.ts';
import type { ContentPart, ToolCallPart } from './messages.ts';
import { MAX_TEXT_BYTES, type StreamPart } from './read-stream.ts';

/** A piece of an answer as it arrives; `index` is the place of its part in the content. */
export type TurnPiece =
  | { type: 'text' | 'reasoning'; index: number; text: string }
  | { type: 'tool_call'; index: number; id: string; name: string }
  | { type: 'arguments'; index: number; text: string };

type Block = {
  readonly index: number;
  readonly type: 'text' | 'reasoning' | 'tool_call';
  readonly stream: RedactedStream;
  /** As it was handed on: redacted. */
  text: string;
  metadata: JsonObject | undefined;
  /** Half a character, until its other half comes. */
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
  #bytes = 0;

  constructor(redactor: Redactor, onPiece: (piece: TurnPiece) => void) {
    this.#redactor = redactor;
    this.#onPiece = onPiece;
  }

  /** Throws ModelAnswerTooLarge when the content is larger than any answer may be. */
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
      // Sources, files and tools of the provider's own are not asked for.
    }
  }

  /** Returns all that has come. Ends what is still open: an answer that was cut leaves its last block so. */
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
    const block = { index, type, stream, text: '', metadata: undefined, half: '', ended: false, begun: false, call };
    this.#blocks.push(block);
    this.#open.set(`${type} ${id}`, block);
    return block;
  }

  /** A block's later metadata replaces what came with its beginning, as the signature of a reasoning does. */
  #note(block: Block, metadata: object | undefined): void {
    if (metadata === undefined) return;
    this.#grow(JSON.stringify(metadata));
    block.metadata = this.#redactor.json(metadata as JsonObject) as JsonObject;
  }

  #append(block: Block, delta: string): void {
    if (block.ended || delta === '') return;
    this.#grow(delta);
    block.begun = true;
    const whole = block.half + delta;
    const cut = /[\ud800-\udbff]$/.test(whole) ? whole.length - 1 : whole.length;
    block.half = whole.slice(cut);
    this.#emit(block, block.stream.add(cleanText(whole.slice(0, cut))));
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
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > MAX_TEXT_BYTES) throw new ModelAnswerTooLarge('it exceeds 1 MiB');
  }

  #partOf({ type, text, metadata, call }: Block): ContentPart {
    const provider_metadata = metadata === undefined ? {} : { provider_metadata: metadata };
    if (type !== 'tool_call') return { type, text, ...provider_metadata };
    const { id = '', name = '' } = call ?? {};
    return { type, id, name, ...argumentsOf(text), ...provider_metadata };
  }
}

/** The arguments of a call. Models write none at all where a tool takes none. */
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
