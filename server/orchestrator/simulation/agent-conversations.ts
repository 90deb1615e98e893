import { CONTEXT_LENGTH_EXCEEDED, type RunEvent } from '../core/index.ts';
import type { History } from './history.ts';

/** The length of an agent's conversation according to the log (docs/adr/0021). */
export type ConversationView = {
  /** The tokens of the conversation, and the number of tokens from which on it is compacted. */
  context: number;
  compactAt: number;
  /** Whether no turn has ended since the last compaction was added. */
  isCompacted: boolean;
  /** The last turn was refused: the next action, or null if the agent fails. */
  after: 'compact' | 'repeat' | null;
  /** Refused turns that are repeated. */
  repeated: ReadonlySet<string>;
};

/** Reads the log from its beginning, without optimization. */
export function conversationOf(history: History, id: string): ConversationView {
  const plan = history.step(id).expanded?.data.plan;
  if (plan?.type !== 'agent') throw new Error(`"${id}" is no agent that has expanded`);
  const repeated = new Set<string>();
  const view: ConversationView = {
    context: plan.context ?? 0,
    compactAt: plan.compact_at ?? Number.POSITIVE_INFINITY,
    isCompacted: false,
    after: null,
    repeated,
  };
  let isRepeat = false;
  for (const event of history.events) {
    if (event.type === 'steps_added' && event.step === id) {
      for (const { type } of event.data.steps) {
        if (type === 'agent_compaction') {
          view.isCompacted = true;
          if (view.after === 'compact') view.after = 'repeat';
        }
        if (type !== 'agent_turn') continue;
        // Until a turn ends: a closing turn may replace the repeated one, and is not repeated again.
        isRepeat ||= view.after !== null;
        view.after = null;
      }
    }
    if (!('step' in event) || !history.step(id).children.includes(event.step)) continue;
    const { type } = history.step(event.step).spec;
    if (event.type === 'step_completed') recordResult(view, type, event);
    if (type === 'agent_turn' && event.type === 'step_completed') isRepeat = false;
    if (type !== 'agent_turn' || event.type !== 'step_failed' || isRepeat || plan.compact_at === undefined) continue;
    if (event.data.error.code !== CONTEXT_LENGTH_EXCEEDED) continue;
    repeated.add(event.step);
    view.after = 'compact';
    if (view.context > 0) view.compactAt = Math.min(view.compactAt, Math.floor(view.context * 0.7));
  }
  return view;
}

function recordResult(
  view: ConversationView,
  type: string,
  { data }: Extract<RunEvent, { type: 'step_completed' }>,
): void {
  if (!('result' in data)) return;
  const { context = 0 } = data;
  if (type === 'agent_tool') view.context += context;
  else if (context > 0) view.context = context;
  if (type === 'agent_turn') view.isCompacted = false;
}
