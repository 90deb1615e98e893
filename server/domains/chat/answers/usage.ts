import type { z } from 'zod';
import { agentStepType, type JsonValue } from '../../../orchestrator/core/index.ts';
import { turnResultOf } from '../../../orchestrator/steps/agent/turn-result.ts';
import { isObject } from '../../../platform/json.ts';
import type { AnswerUsage as UsageSchema } from '../schemas.ts';
import type { AnswerEvent } from '../stream/frames.ts';

export type AnswerUsage = z.output<typeof UsageSchema>;

/** Adds up the usage of the turns of an answer from the events of its run. */
export class UsageOfAnswer {
  #input = 0;
  #output = 0;
  #context: number | null = null;
  #window: number | null = null;

  add({ event_type: type, step_id: step, data }: AnswerEvent): void {
    if (step === undefined) return;
    if (type === 'step_expanded' && isObject(data.agent) && typeof data.agent.context_window === 'number')
      this.#window = data.agent.context_window;
    if (type !== 'step_completed' || agentStepType(step) !== 'agent_turn') return;
    const result = turnResultOf((data.result ?? null) as JsonValue);
    if (result === null) return;
    const { input_tokens, output_tokens } = result.usage;
    this.#input += input_tokens;
    this.#output += output_tokens;
    this.#context = input_tokens + output_tokens;
  }

  /** Returns the usage of the answer; null if no turn has ended. */
  total(microcredits: number): AnswerUsage | null {
    if (this.#context === null) return null;
    return {
      input_tokens: this.#input,
      output_tokens: this.#output,
      context_tokens: this.#context,
      context_window: this.#window,
      credits_microcredits: microcredits,
    };
  }
}
