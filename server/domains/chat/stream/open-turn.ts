import type { UIMessageChunk } from 'ai';
import type { LivePiece } from '../../../orchestrator/ports/live-text.ts';
import type { ContentPart } from '../../../orchestrator/steps/agent/turn-messages.ts';

type Written = { type: 'text' | 'reasoning'; text: string; isEnded: boolean };

/** The state of a turn that is being streamed: the blocks that the client has so far. */
export class OpenTurn {
  readonly step: string;
  readonly attempt: number;
  isDone = false;
  readonly #callId: (number: number) => string;
  readonly #written = new Map<number, Written>();
  /** The ids of calls, by the index of their part. */
  readonly #calls = new Map<number, string>();

  /** `callId` returns the id of the call with this number, from 1. */
  constructor(step: string, attempt: number, callId: (number: number) => string) {
    this.step = step;
    this.attempt = attempt;
    this.#callId = callId;
  }

  /** Returns the chunks of a piece of live text. */
  write(piece: LivePiece): UIMessageChunk[] {
    const { index } = piece;
    if (piece.type === 'tool_call') {
      const toolCallId = this.#callId(this.#calls.size + 1);
      this.#calls.set(index, toolCallId);
      return [...this.#endBefore(index), { type: 'tool-input-start', toolCallId, toolName: piece.name, dynamic: true }];
    }
    if (piece.type === 'arguments') {
      const toolCallId = this.#calls.get(index);
      if (toolCallId === undefined || piece.text === '') return [];
      return [{ type: 'tool-input-delta', toolCallId, inputTextDelta: piece.text }];
    }
    return this.#add(index, piece.type, piece.text);
  }

  /** Returns the chunks that complete the live text to exactly `content`, without calls. */
  complete(content: readonly ContentPart[]): UIMessageChunk[] {
    this.isDone = true;
    const reset: UIMessageChunk[] = this.#fits(content) ? [] : this.#reset();
    const rest = content.flatMap((part, index) =>
      part.type === 'tool_call' ? [] : this.#add(index, part.type, part.text.slice(this.#textAt(index).length)),
    );
    return [...reset, ...rest, ...this.#endAll()];
  }

  /** Returns the chunks that end a cancelled turn with the text `partial` of the log. */
  cut(partial: string): UIMessageChunk[] {
    this.isDone = true;
    const texts = [...this.#written].filter(([, { type }]) => type === 'text');
    const sent = texts.map(([, { text }]) => text).join('');
    if (sent.startsWith(partial)) return this.#endAll();
    const isContinued = partial.startsWith(sent);
    const reset = isContinued ? [] : this.#reset();
    const last = texts.at(-1);
    const isOpen = isContinued && last !== undefined && !last[1].isEnded;
    const index = isOpen ? last[0] : Math.max(-1, ...this.#written.keys(), ...this.#calls.keys()) + 1;
    return [
      ...reset,
      ...this.#add(index, 'text', isContinued ? partial.slice(sent.length) : partial),
      ...this.#endAll(),
    ];
  }

  /** Returns the chunks that end open blocks. */
  end(): UIMessageChunk[] {
    this.isDone = true;
    return this.#endAll();
  }

  #textAt(index: number): string {
    return this.#written.get(index)?.text ?? '';
  }

  /** Returns whether each block is a prefix of the same part of `content`. */
  #fits(content: readonly ContentPart[]): boolean {
    return [...this.#written].every(([index, { type, text, isEnded }]) => {
      const part = content[index];
      return part?.type === type && (isEnded ? part.text === text : part.text.startsWith(text));
    });
  }

  #reset(): UIMessageChunk[] {
    this.#written.clear();
    this.#calls.clear();
    return [{ type: 'reset-step' }];
  }

  #add(index: number, type: Written['type'], text: string): UIMessageChunk[] {
    if (text === '') return [];
    const id = this.#blockId(index);
    const delta: UIMessageChunk = { type: `${type}-delta`, id, delta: text };
    const present = this.#written.get(index);
    if (present !== undefined) {
      present.text += text;
      return [delta];
    }
    this.#written.set(index, { type, text, isEnded: false });
    return [...this.#endBefore(index), { type: `${type}-start`, id }, delta];
  }

  /** Ends the blocks before a part, because a model writes parts one after the other. */
  #endBefore(index: number): UIMessageChunk[] {
    return [...this.#written].flatMap(([at, block]) => (at < index ? this.#endBlock(at, block) : []));
  }

  #endAll(): UIMessageChunk[] {
    return [...this.#written].flatMap(([at, block]) => this.#endBlock(at, block));
  }

  #endBlock(index: number, block: Written): UIMessageChunk[] {
    if (block.isEnded) return [];
    block.isEnded = true;
    return [{ type: `${block.type}-end`, id: this.#blockId(index) }];
  }

  #blockId(index: number): string {
    return `${this.step}:${index}`;
  }
}
