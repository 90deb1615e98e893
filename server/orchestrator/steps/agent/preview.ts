import { isObject } from '../../../platform/json.ts';
import type { StepPreview } from '../../ports/step-declarations.ts';
import { firstLine, modelOf, orNull, textOf, USAGE } from '../preview-parts.ts';

export const preview: StepPreview = {
  liveEffect: () => 'Starts an agent, which may call its tools',
  result: ({ response_schema }, exampleOf) => {
    const answer = { text: '', ended_by: '', complete: true, turns: 0, tool_calls: 0, model: '', usage: USAGE };
    return isObject(response_schema) ? { ...answer, object: exampleOf(response_schema) } : answer;
  },
  summary: ({ prompt, agent_id: id, model }, nameOf) => {
    const who = nameOf(textOf(id)) ?? '';
    const task = firstLine(prompt);
    return who && task ? `${who}: ${task}` : orNull(who || task || modelOf(model));
  },
};

/** Previews of the steps that an agent adds to its run. */
export const added = {
  agent_turn: { summary: ({ model }) => orNull(modelOf(model)) },
  agent_compaction: { summary: ({ model }) => orNull(modelOf(model)) },
  agent_tool: { summary: ({ tool }) => orNull(textOf(tool)) },
} satisfies Record<string, StepPreview>;
