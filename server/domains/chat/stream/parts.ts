import type { UIMessageChunk } from 'ai';
import type { z } from 'zod';
import type { JsonValue } from '../../../orchestrator/core/index.ts';
import type { ContextData, ProposalData, TrialData } from '../schemas.ts';

export type ToolState =
  | 'input-streaming'
  | 'input-available'
  | 'approval-requested'
  | 'approval-responded'
  | 'output-available'
  | 'output-error'
  | 'output-denied';

/**
 * A summary of older messages, which would have exceeded the context of the model. `messages`: the number of summarised messages, including
 * those of earlier summaries. `history`: the number of summarised units before the message. A unit begins with a message of a person.
 */
export type SummaryPart = {
  type: 'data-summary';
  id: string;
  data: { text: string; messages: number; history: number };
};

/** The number of memories that an agent recalled for the message. `id`: the step of the agent. */
export type RecallPart = { type: 'data-recall'; id: string; data: { memories: number } };
/** A place where the agent read text from outside. `place` continues the words "text from outside". `id`: the step of the agent. */
export type OutsidePart = { type: 'data-outside'; id: string; data: { place: string } };
/** The context of a person's message: a workflow, run or step. */
export type ContextPart = { type: 'data-context'; data: z.output<typeof ContextData> };

/** A proposal of the agent, or its trial. The last part with an id replaces earlier ones. */
export type ProposalPart =
  | { type: 'data-proposal'; id: string; data: z.output<typeof ProposalData> }
  | { type: 'data-trial'; id: string; data: z.output<typeof TrialData> };

/** A part of an AI SDK `UIMessage`. */
export type MessagePart =
  | { type: 'step-start' }
  | SummaryPart
  | RecallPart
  | OutsidePart
  | ContextPart
  | ProposalPart
  | { type: 'text' | 'reasoning'; text: string; state?: 'streaming' | 'done' }
  | {
      type: 'dynamic-tool';
      toolCallId: string;
      toolName: string;
      state: ToolState;
      input?: JsonValue;
      output?: JsonValue;
      errorText?: string;
      approval?: { id: string; approved?: boolean; reason?: string };
    };
type ToolPart = Extract<MessagePart, { type: 'dynamic-tool' }>;

/** Builds the parts of a message from the chunks of its stream, as clients do. */
export class MessageParts {
  readonly parts: MessagePart[] = [];
  #open = new Map<string, Extract<MessagePart, { type: 'text' | 'reasoning' }>>();

  add(chunk: UIMessageChunk): void {
    switch (chunk.type) {
      case 'start-step':
        this.parts.push({ type: 'step-start' });
        return;
      case 'reset-step':
        this.parts.length = this.parts.findLastIndex(({ type }) => type === 'step-start') + 1;
        this.#open.clear();
        return;
      case 'text-start':
      case 'reasoning-start':
        this.#start(chunk.type === 'text-start' ? 'text' : 'reasoning', chunk.id);
        return;
      case 'text-delta':
      case 'reasoning-delta': {
        const part = this.#open.get(chunk.id);
        if (part !== undefined) part.text += chunk.delta;
        return;
      }
      case 'text-end':
      case 'reasoning-end': {
        const part = this.#open.get(chunk.id);
        if (part !== undefined) part.state = 'done';
        this.#open.delete(chunk.id);
        return;
      }
      case 'data-summary':
      case 'data-recall':
      case 'data-outside':
      case 'data-proposal':
      case 'data-trial':
        this.#setData(chunk as SummaryPart | RecallPart | OutsidePart | ProposalPart);
        return;
      default:
        this.#addOfCall(chunk);
    }
  }

  #start(type: 'text' | 'reasoning', id: string): void {
    const part = { type, text: '', state: 'streaming' as const };
    this.#open.set(id, part);
    this.parts.push(part);
  }

  /** Replaces the earlier part with the same type and id, or appends the part if there is none. */
  #setData(given: SummaryPart | RecallPart | OutsidePart | ProposalPart): void {
    const { type, id, data } = given;
    const at = this.parts.findIndex(part => part.type === type && part.id === id);
    this.parts.splice(at < 0 ? this.parts.length : at, at < 0 ? 0 : 1, { type, id, data } as typeof given);
  }

  #addOfCall(chunk: UIMessageChunk): void {
    switch (chunk.type) {
      case 'tool-input-start':
        this.#setCall(chunk.toolCallId, { toolName: chunk.toolName, state: 'input-streaming' });
        return;
      case 'tool-input-available':
      case 'tool-input-error': {
        const { toolName, input } = chunk as { toolName: string; input: JsonValue };
        const isError = chunk.type === 'tool-input-error';
        const error = isError ? { errorText: chunk.errorText } : {};
        this.#setCall(chunk.toolCallId, {
          toolName,
          input,
          state: isError ? 'output-error' : 'input-available',
          ...error,
        });
        return;
      }
      case 'tool-approval-request':
        this.#setCall(chunk.toolCallId, { state: 'approval-requested', approval: { id: chunk.approvalId } });
        return;
      case 'tool-approval-response': {
        const { approvalId: id, approved, reason } = chunk;
        const part = this.#calls().find(({ approval }) => approval?.id === id);
        if (part !== undefined)
          Object.assign(part, {
            state: 'approval-responded',
            approval: { id, approved, ...(reason !== undefined && { reason }) },
          });
        return;
      }
      case 'tool-output-available':
        this.#setCall(chunk.toolCallId, { state: 'output-available', output: chunk.output as JsonValue });
        return;
      case 'tool-output-error':
        this.#setCall(chunk.toolCallId, { state: 'output-error', errorText: chunk.errorText });
        return;
      case 'tool-output-denied':
        this.#setCall(chunk.toolCallId, { state: 'output-denied' });
    }
  }

  #calls(): ToolPart[] {
    return this.parts.filter(part => part.type === 'dynamic-tool');
  }

  #setCall(toolCallId: string, fields: Partial<ToolPart> & Pick<ToolPart, 'state'>): void {
    const present = this.#calls().find(part => part.toolCallId === toolCallId);
    if (present !== undefined) Object.assign(present, fields);
    else this.parts.push({ type: 'dynamic-tool', toolCallId, toolName: '', ...fields });
  }
}

/** Returns the text of a message. */
export function textOf(parts: readonly MessagePart[]): string {
  return parts.flatMap(part => (part.type === 'text' ? part.text : [])).join('');
}
