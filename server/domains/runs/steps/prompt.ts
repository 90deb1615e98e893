import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import {
  addedId,
  agentProgress,
  agentStepType,
  compile,
  evolve,
  type Graph,
  type GraphStep,
  type JsonValue,
  newRun,
  type RunState,
} from '../../../orchestrator/core/index.ts';
import { decodeEvent, payloadRefs, type StoredEvent } from '../../../orchestrator/log/decode.ts';
import { compactionPrompt } from '../../../orchestrator/steps/agent/compaction.ts';
import { workOf } from '../../../orchestrator/steps/agent/plan.ts';
import { type Prompt, turnPrompt } from '../../../orchestrator/steps/agent/prompt.ts';
import { notFound } from '../../../platform/errors.ts';
import { requireRun } from '../access/find.ts';
import { findGraph, findPayloads } from '../store.ts';
import { findAddedStep } from './added-step.ts';
import { boundedPrompt } from './prompt-shown.ts';
import { findClosingLimit, listEventsBefore } from './prompt-store.ts';
import type { RunPrompt, RunStepInput } from './schemas.ts';

/** The maximum number of bytes of large values that one answer reads. */
const MAX_READ_BYTES = 16 * 1024 * 1024;
/** Replaces a result that is not read. */
const NOT_READ = 'This result is too large to be shown here. It is with the step.';

/**
 * GET …/steps/{step_id}/prompt: returns the prompt that a turn of an agent, or a compaction of its conversation, sent
 * to its model. The code that sent it builds it again from the log, without keys and headers. Throws AppError 404, also
 * for a step that sent no prompt.
 */
export async function getPrompt(
  ctx: Context,
  input: z.output<typeof RunStepInput>,
): Promise<z.input<typeof RunPrompt>> {
  const { pool } = ctx.services;
  const run = await requireRun(ctx, input);
  const { tenantId } = ctx.principal;
  const step = input.step_id;
  const type = agentStepType(step);
  const graph = await findGraph(pool, { tenantId, workflowId: run.workflow_id, version: run.version });
  if (graph === null || (type !== 'agent_turn' && type !== 'agent_compaction')) throw notFound('Prompt');
  const added = await findAddedStep(pool, run.id, graph, step);
  const around = parentsOf(step);
  const [agent = ''] = around;
  const events = await listEventsBefore(pool, { tenantId, runId: run.id }, { step, agent, around });
  if (added === null || events.length === 0) throw notFound('Prompt');
  const unread = await readPayloads(ctx, run.id, events);
  const closing = await findClosingLimit(pool, { tenantId, runId: run.id }, step);
  const sent = closing === null ? added.definition : { ...added.definition, closing };
  const prompt = promptOf(fold(run.id, graph, events), sent, unread);
  if (prompt === null) throw notFound('Prompt');
  return { run_id: run.id, step_id: step, ...boundedPrompt(prompt) };
}

/** Returns the agent under which the step was added, and the steps around the agent, the innermost first. */
function parentsOf(step: string): string[] {
  const id = addedId(step);
  return id === null ? [] : [id.parent, ...parentsOf(id.parent)];
}

/** Replaces references by the stored values, up to `MAX_READ_BYTES`. Returns the steps whose results are left out. */
async function readPayloads(ctx: Context, runId: string, events: readonly StoredEvent[]): Promise<Set<string>> {
  const unread = new Set<string>();
  const wanted: { event: StoredEvent; field: string; id: string }[] = [];
  let left = MAX_READ_BYTES;
  for (const event of events) {
    for (const { field, ref } of payloadRefs(event.data)) {
      // The input of an agent is always read: a prompt cannot be shown without it.
      const isRead = event.event_type === 'step_expanded' || ref.bytes <= left;
      if (!isRead && event.step_id !== null) unread.add(event.step_id);
      if (!isRead) continue;
      left -= ref.bytes;
      wanted.push({ event, field, id: ref.payload_id });
    }
  }
  const ids = wanted.map(({ id }) => id);
  const found = await findPayloads(ctx.services.pool, runId, ids);
  for (const { event, field, id } of wanted) {
    event.data[field] = found.get(id) ?? null;
    delete event.data[`${field}_ref`];
  }
  return unread;
}

function fold(runId: string, graph: Graph, events: readonly StoredEvent[]): RunState {
  const state = newRun(runId, compile(graph));
  for (const event of events) evolve(state, decodeEvent(event));
  return state;
}

/** Returns null if the step sent no prompt. */
function promptOf(state: RunState, step: GraphStep, unread: ReadonlySet<string>): Model | null {
  const agent = agentProgress(state, step.id);
  if (agent === null) return null;
  const work = workOf(agent.settings);
  const source = {
    result: (id: string): JsonValue => (unread.has(id) ? NOT_READ : ((state.results.get(id) as JsonValue) ?? null)),
    errorOf: (id: string) => state.steps.get(id)?.error,
  };
  const make = agentStepType(step.id) === 'agent_turn' ? turnPrompt : compactionPrompt;
  const prompt = make(work, agent, step, source);
  return prompt === null ? null : { ...prompt, model: work.model };
}

export type Model = Prompt & { model: string };
