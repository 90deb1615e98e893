import { z } from 'zod';
import { CREDIT } from '../../server/orchestrator/ports/microcredits.ts';
import { AppError } from '../../server/platform/errors.ts';
import type { About, Act, Goal, World } from './goal.ts';
import { filled } from './scripted.ts';

/** The outcome and the cost of one attempt at a goal. */
export type Attempt = {
  problems: string[];
  /** The verdict on the last trial of Autopilot's proposal; null without a trial. */
  verdict: string | null;
  inputTokens: number;
  outputTokens: number;
  credits: number;
  turns: number;
};

const Sent = z.object({ thread_id: z.string(), run_id: z.string(), workflow_id: z.string() });
const Messages = z.object({
  messages: z.array(
    z.object({
      parts: z.array(z.looseObject({ type: z.string(), text: z.string().optional() })),
      metadata: z.object({ status: z.string(), error: z.object({ message: z.string() }).nullable() }),
    }),
  ),
});
const Heads = z.object({
  proposals: z.array(
    z.object({ id: z.string(), etag: z.string(), status: z.string(), thread_id: z.string().nullable() }),
  ),
});
const Applied = z.object({ workflow: z.object({ id: z.string() }) });
const Summary = z.object({
  credits_microcredits: z.number(),
  output: z
    .object({ turns: z.number(), usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }) })
    .nullable(),
});
const Trial = z.object({ verdict: z.string().nullable() });

const Tasks = z.object({ tasks: z.array(z.object({ task_id: z.string() })) });

type Asking = {
  /** Called once the prepared workflow or run exists, before Autopilot is asked. */
  ready?(about: About | null): void;
  /** Waits a moment. */
  pause(): Promise<void>;
};

/** Asks Autopilot, applies and publishes its proposal as a person would, and checks the outcome. */
export async function attemptGoal(goal: Goal, world: World, { ready, pause }: Asking): Promise<Attempt> {
  const { act } = world;
  const about = (await goal.prepare?.(world)) ?? null;
  ready?.(about);
  const text = filled(goal.words, world, about);
  const sent = Sent.parse(await act('autopilot_chat', { text, ...(about && { context: about }) }));
  const answer = await waitForAnswer(act, sent, pause);
  const cost = await costOf(act, sent);
  if (answer.error !== null) return { problems: [answer.error], verdict: null, ...cost };
  const said = { answer: answer.text, asks: answer.asks, about };
  const { proposals } = Heads.parse(await act('autopilot_list_proposals', { limit: 100 }));
  const proposal = proposals.find(each => each.thread_id === sent.thread_id && each.status === 'ready');
  if (proposal === undefined)
    return { problems: await goal.check(world, { workflowId: null, ...said }), verdict: null, ...cost };
  const verdict = await verdictOf(act, proposal.id);
  const { workflow } = Applied.parse(await act('autopilot_apply_proposal', { id: proposal.id, etag: proposal.etag }));
  await act('workflows_publish_version', { id: workflow.id });
  const problems = await goal.check(world, { workflowId: workflow.id, ...said });
  return { problems, verdict, ...cost };
}

/** Waits for the answer and returns its text. If the answer asks with a form, stops it: the question is the answer. */
async function waitForAnswer(act: Act, sent: z.output<typeof Sent>, pause: () => Promise<void>) {
  const ref = { id: sent.workflow_id, runID: sent.run_id };
  for (let asks = false; ; await pause()) {
    const { messages } = Messages.parse(
      await act('chat_list_messages', { id: sent.thread_id, order: 'desc', limit: 1 }),
    );
    const [last] = messages;
    if (last !== undefined && !['queued', 'running', 'sent'].includes(last.metadata.status)) {
      const text = last.parts.flatMap(part => (part.type === 'text' ? [part.text ?? ''] : [])).join('\n');
      return { text, asks, error: asks ? null : (last.metadata.error?.message ?? null) };
    }
    if (asks || Tasks.parse(await act('tasks_list_pending_run', ref)).tasks.length === 0) continue;
    asks = true;
    await act('workflows_execute_command', { id: ref.id, command: 'stop', params: { run_id: ref.runID } });
  }
}

async function costOf(act: Act, { workflow_id: id, run_id: runID }: z.output<typeof Sent>) {
  const { credits_microcredits, output } = Summary.parse(await act('runs_get_summary', { id, runID }));
  const { input_tokens: inputTokens = 0, output_tokens: outputTokens = 0 } = output?.usage ?? {};
  return { credits: credits_microcredits / CREDIT, inputTokens, outputTokens, turns: output?.turns ?? 0 };
}

async function verdictOf(act: Act, id: string): Promise<string | null> {
  try {
    return Trial.parse(await act('autopilot_get_trial', { id, wait_s: 30 })).verdict;
  } catch (error) {
    if (error instanceof AppError && error.status === 404) return null;
    throw error;
  }
}
