import type { UIMessageChunk } from 'ai';
import type { JsonMap, JsonValue } from '../../../orchestrator/core/index.ts';
import { addedId, agentStepType, approvalId } from '../../../orchestrator/core/index.ts';
import type { AttemptPiece } from '../../../orchestrator/ports/live-text.ts';
import type { ToolCallPart } from '../../../orchestrator/steps/agent/turn-messages.ts';
import { callsOf, type TurnResult, turnResultOf } from '../../../orchestrator/steps/agent/turn-result.ts';
import { isObject } from '../../../platform/json.ts';
import { approvalOf, callsFrames, outcomeOfCall } from './call-frames.ts';
import { OpenTurn } from './open-turn.ts';
import { proposalFrames } from './proposal-frames.ts';

/** An event of the run that answers a message, with the complete result of a turn. */
export type AnswerEvent = {
  seq: number;
  event_type: string;
  step_id?: string | undefined;
  attempt?: number | undefined;
  data: JsonMap;
};

/** A chunk of the AI SDK's UI message stream. The last chunk of an event has the event's `seq`. */
export type Frame = { seq?: number; chunk: UIMessageChunk };

/**
 * Converts the events of a run and its live text to the AI SDK's UI message stream, version 1. The same events always lead to the same frames,
 * and live text is completed to exactly the text in the log.
 */
export class AnswerFrames {
  readonly #runId: string;
  readonly #metadata: JsonMap;
  /** The client's last event. Events up to this one update the state without frames. */
  readonly #after: number;
  #turn: OpenTurn | null = null;
  /** The calls as the model requested them, by step. */
  readonly #calls = new Map<string, ToolCallPart>();
  #isStepOpen = false;
  #hasResumed = false;
  #finish: 'stop' | 'length' = 'stop';
  /** Pieces that arrived before the start of their attempt. */
  #early: AttemptPiece[] = [];
  /** Whether the run has ended. */
  isEnded = false;

  constructor({ runId, metadata = {}, after = 0 }: { runId: string; metadata?: JsonMap; after?: number }) {
    this.#runId = runId;
    this.#metadata = metadata;
    this.#after = after;
  }

  /** Returns the frames of the next event. */
  event(event: AnswerEvent): Frame[] {
    const isKnown = event.seq <= this.#after;
    const again = isKnown ? [] : this.#resume();
    const chunks = this.#chunksOf(event);
    if (isKnown || chunks.length === 0) return again.map(chunk => ({ chunk }));
    const all = [...again, ...chunks].map((chunk): Frame => ({ chunk }));
    all[all.length - 1] = { ...(all.at(-1) as Frame), seq: event.seq };
    const early = this.#early.splice(0);
    return [...all, ...early.flatMap(piece => this.piece(piece))];
  }

  /** Returns the frames of a piece of live text; none for pieces of attempts that have ended. */
  piece(piece: AttemptPiece): Frame[] {
    if (this.isEnded) return [];
    const turn = this.#turn;
    if (turn === null || turn.step !== piece.step || turn.attempt < piece.attempt) {
      this.#early.push(piece);
      return [];
    }
    if (turn.isDone || turn.attempt > piece.attempt) return [];
    return [...this.#resume(), ...turn.write(piece)].map(chunk => ({ chunk }));
  }

  /** Resets the turn for a client that resumes during a turn, because the client cannot know which of its text is in the log. */
  #resume(): UIMessageChunk[] {
    if (this.#hasResumed) return [];
    this.#hasResumed = true;
    return this.#after > 0 && this.#turn !== null && !this.#turn.isDone ? [{ type: 'reset-step' }] : [];
  }

  #chunksOf(event: AnswerEvent): UIMessageChunk[] {
    const { event_type: type, step_id: step, data } = event;
    if (type === 'run_started')
      return [{ type: 'start', messageId: this.#runId, messageMetadata: { ...this.#metadata, run_id: this.#runId } }];
    if (type === 'run_rejected') return this.#end([{ type: 'error', errorText: String(data.message) }]);
    if (type === 'state_changed') return this.#stateChanged(data);
    if (step === undefined) return [];
    if (type === 'step_expanded') return recallOf(data, step);
    switch (agentStepType(step)) {
      case 'agent_turn':
        return this.#turnEvent(event, step);
      case 'agent_tool':
        return this.#callEvent(event, step);
      case 'agent_approval':
        return this.#approvalEvent(event, step);
      case 'agent_compaction':
        return summaryOf(event, step);
      default:
        return [];
    }
  }

  /** Returns the chunks of an event of a call. A lost call is a task itself and asks like an approval. */
  #callEvent(event: AnswerEvent, step: string): UIMessageChunk[] {
    const id = this.#callId(step);
    const approval = approvalOf(event, id, id);
    return [...approval, ...outcomeOfCall(event, id), ...proposalFrames(event, this.#calls.get(step)?.name)];
  }

  #approvalEvent(event: AnswerEvent, step: string): UIMessageChunk[] {
    const call = callOfApproval(step);
    return approvalOf(event, this.#callId(step), this.#callId(call), this.#calls.get(call));
  }

  #turnEvent({ event_type: type, attempt = 1, data }: AnswerEvent, step: string): UIMessageChunk[] {
    switch (type) {
      case 'step_started':
        return this.#turnStarted(step, attempt);
      case 'step_completed': {
        const result = turnResultOf((data.result ?? null) as JsonValue);
        const chunks = result === null ? this.#turnEnded() : this.#turnCompleted(step, result);
        return [...outsideOf(data, step), ...chunks];
      }
      case 'step_cancelled':
        return this.#turn?.step === step ? this.#turn.cut(typeof data.partial === 'string' ? data.partial : '') : [];
      case 'step_failed':
        return this.#turnEnded();
      default:
        return [];
    }
  }

  #turnStarted(step: string, attempt: number): UIMessageChunk[] {
    const isAgain = this.#turn?.step === step;
    this.#turn = new OpenTurn(step, attempt, number => this.#callId(`${step}.${number}`));
    if (isAgain) return [{ type: 'reset-step' }];
    const before: UIMessageChunk[] = this.#isStepOpen ? [{ type: 'finish-step' }] : [];
    this.#isStepOpen = true;
    return [...before, { type: 'start-step' }];
  }

  #turnCompleted(step: string, result: TurnResult): UIMessageChunk[] {
    if (this.#turn?.step !== step) return [];
    this.#finish = result.finish_reason === 'length' ? 'length' : 'stop';
    for (const [index, call] of callsOf(result).entries()) this.#calls.set(`${step}.${index + 1}`, call);
    return [
      ...this.#turn.complete(result.content),
      ...callsFrames(callsOf(result), result.problems ?? {}, number => this.#callId(`${step}.${number}`)),
    ];
  }

  #turnEnded(): UIMessageChunk[] {
    return this.#turn === null ? [] : this.#turn.end();
  }

  #stateChanged(data: JsonMap): UIMessageChunk[] {
    const { to, error } = data;
    switch (to) {
      case 'completed':
        return this.#end([{ type: 'finish', finishReason: this.#finish, messageMetadata: { status: to } }]);
      case 'stopped':
        return this.#end([
          { type: 'abort', reason: typeof data.by === 'string' ? `Stopped by ${data.by}` : 'Stopped' },
        ]);
      case 'failed': {
        const text = isObject(error) && typeof error.message === 'string' ? error.message : 'The answer failed.';
        return this.#end([
          { type: 'error', errorText: text },
          { type: 'finish', finishReason: 'error', messageMetadata: { status: to } },
        ]);
      }
      case 'paused':
      case 'running':
        return [{ type: 'message-metadata', messageMetadata: { status: to } }];
      default:
        return [];
    }
  }

  #end(last: UIMessageChunk[]): UIMessageChunk[] {
    this.isEnded = true;
    const open = this.#turnEnded();
    return [...open, ...(this.#isStepOpen ? [{ type: 'finish-step' } as const] : []), ...last];
  }

  /** Returns an id that is unique in the thread. The ids of models are unique only in a turn. */
  #callId(step: string): string {
    return `${this.#runId}:${step}`;
  }
}

/** Returns the chunk with the number of recalled memories. Clients read the memories separately. */
function recallOf({ plan }: JsonMap, id: string): UIMessageChunk[] {
  const memories = isObject(plan) ? plan.memories : undefined;
  return typeof memories === 'number' ? [{ type: 'data-recall', id, data: { memories } }] : [];
}

/** Returns the chunk with the place of text from outside that a turn read. A later turn replaces it. */
function outsideOf({ turn }: JsonMap, step: string): UIMessageChunk[] {
  const place = isObject(turn) ? turn.outside : undefined;
  const id = addedId(step)?.parent ?? step;
  return typeof place === 'string' ? [{ type: 'data-outside', id, data: { place } }] : [];
}

function summaryOf({ event_type: type, data }: AnswerEvent, id: string): UIMessageChunk[] {
  const { text, messages, history } = type === 'step_completed' && isObject(data.result) ? data.result : {};
  if (typeof text !== 'string' || typeof messages !== 'number' || typeof history !== 'number') return [];
  return messages === 0 ? [] : [{ type: 'data-summary', id, data: { text, messages, history } }];
}

const callOfApproval = (step: string): string => step.slice(0, -approvalId('').length);
