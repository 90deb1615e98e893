import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { formatGolden, parseGolden, summary } from '../../testing/engine/golden.ts';
import {
  type Command,
  compile,
  decide,
  effects,
  evolve,
  grow,
  isTerminal,
  type JsonMap,
  type JsonValue,
  newRun,
  type RunEvent,
  type RunState,
  type StepResult,
} from './index.ts';

/**
 * Logs that earlier versions wrote. A run can outlive the version that started it, so reading an old log must always
 * give the same result: add files to this folder, never change one (docs/adr/0005).
 */
const folder = new URL('./golden/', import.meta.url);
const files = readdirSync(folder).filter(file => file.endsWith('.ndjson'));
const textOf = (file: string) => readFileSync(new URL(file, folder), 'utf8');
const readGolden = (file: string) => parseGolden(textOf(file));

describe('golden logs', () => {
  test.each(files)('%s is folded to the recorded state', file => {
    const { graph, events, expected } = readGolden(file);
    const state = newRun('run', compile(graph));
    const seen = [];
    for (const event of events) {
      evolve(state, event);
      if (expected.some(({ seq }) => seq === state.seq)) seen.push({ seq: state.seq, state: summary(state) });
    }
    expect(seen).toEqual(expected);
  });

  test('no log was changed or removed since it was added', () => {
    const sums = textOf('SHA256SUMS').trim().split('\n');
    const found = files.map(file => `${createHash('sha256').update(textOf(file)).digest('hex')}  ${file}`);
    expect(found.sort()).toEqual(sums.sort());
  });

  test.each(files)('%s has one event a line, as it would be written today', file => {
    expect(formatGolden(readGolden(file)).split('\n')).toEqual(textOf(file).split('\n'));
  });

  test.each(files)('the run of %s can be continued to its end', file => {
    const { graph, events } = readGolden(file);
    const state = events.reduce(evolve, newRun('run', compile(graph)));
    const written = [...events, ...continueToEnd(state)];
    expect(isTerminal(state.status)).toBe(true);
    const ends = written.filter(
      event => event.type === 'step_completed' || event.type === 'step_failed' || event.type === 'step_cancelled',
    );
    const added = written.flatMap(event => (event.type === 'steps_added' ? event.data.steps : []));
    expect(ends.map(({ step }) => step).sort()).toEqual([...graph.steps, ...added].map(({ id }) => id).sort());
  });

  test('a run that started without the branch rule `edges` continues with the old rule', () => {
    const { graph, events } = readGolden('unfinished-branch-decides-a-step.ndjson');
    const state = events.reduce(evolve, newRun('run', compile(graph)));
    // `s2` took `then`, and only its `else` names `s3`. The other dependency of `s3`, `s1`, completes.
    expect(continueToEnd(state)).toContainEqual(
      expect.objectContaining({ step: 's3', data: { skipped: true, reason: 'branch_not_taken' } }),
    );
  });

  test('the logs contain every type of event, and runs in every state', () => {
    const all = files.map(readGolden);
    const types = new Set(all.flatMap(({ events }) => events.map(({ type }) => type)));
    expect([...types].sort()).toEqual([...Object.keys(shapes)].sort());
    const left = new Set(
      all.map(({ graph, events }) => {
        const { status, stopRequested } = events.reduce(evolve, newRun('run', compile(graph)));
        return stopRequested !== null && !isTerminal(status) ? 'stopping' : status;
      }),
    );
    expect([...left].sort()).toEqual(['completed', 'failed', 'paused', 'running', 'stopped', 'stopping']);
  });

  test.each(files)('%s has the current shapes of events', file => {
    for (const event of readGolden(file).events) expect(eventShape.safeParse(event).error).toBeUndefined();
  });
});

/** Executes one effect after the other, like an executor, so that every run ends. */
function continueToEnd(state: RunState): RunEvent[] {
  const written: RunEvent[] = [];
  let now = 4_000_000_000_000;
  for (let left = 1_000; left > 0 && !isTerminal(state.status); left--) {
    now += 100_000;
    let events = decide(state, nextCommand(state), now);
    while (events.length > 0) {
      for (const event of events) evolve(state, event);
      written.push(...events);
      events = grow(state, now);
    }
  }
  return written;
}

/** Returns a command that carries the run on. Attempts in flight succeed, or are abandoned if the run is being stopped. */
function nextCommand(state: RunState): Command {
  const [inFlightStep] = state.inFlight;
  if (inFlightStep !== undefined && state.stopRequested !== null)
    return { type: 'abandon_attempt', step: inFlightStep };
  if (state.status === 'paused') return { type: 'resume', by: 'ann' };
  if (inFlightStep !== undefined) {
    const { attempt = 0 } = state.steps.get(inFlightStep) ?? {};
    return { type: 'attempt_succeeded', step: inFlightStep, attempt, result: null };
  }
  const [step] = [...effects(state).ready, ...state.retrying];
  if (step !== undefined) return { type: 'start_attempt', step };
  const [sleeping] = state.sleeping;
  if (sleeping !== undefined) return { type: 'wake', step: sleeping };
  const [calling] = state.calling;
  if (calling !== undefined) {
    const { runId: run_id = '', detach = false } = state.steps.get(calling)?.call ?? {};
    if (detach) return { type: 'child_started', step: calling, run_id };
    return { type: 'child_ended', step: calling, run_id, end: { status: 'completed' }, random: 0 };
  }
  const [waiting = ''] = state.waiting;
  return { type: 'complete_task', step: waiting, approved: true, result: {}, by: 'ann' };
}

const status = z.enum(['running', 'paused', 'completed', 'failed', 'stopped']);
const json = z.custom<JsonValue>(value => value !== undefined);
const map = z.custom<JsonMap>(value => typeof value === 'object' && value !== null && !Array.isArray(value));
const error = z.strictObject({ code: z.string(), message: z.string(), details: json.optional() });
const consumed = z
  .array(
    z.strictObject({
      action: z.enum(['tool_call', 'llm_input_tokens', 'llm_output_tokens']),
      quantity: z.number(),
    }),
  )
  .optional();
const credits = z.number().int().positive().optional();
const turn = z.strictObject({
  calls: z.array(
    z.strictObject({
      tool: z.string(),
      hash: z.string(),
      policy: z.enum(['auto', 'ask', 'none']),
      grant: z.string().optional(),
      outside: z.string().optional(),
      outside_input: z.string().optional(),
      private: z.string().optional(),
      private_input: z.string().optional(),
    }),
  ),
  limit: z.enum(['max_turns', 'max_tool_calls', 'budget', 'timeout', 'repeated_calls']).optional(),
  outside: z.string().optional(),
});
const bounds = z.strictObject({ max_turns: z.number(), max_tool_calls: z.number(), timeout_s: z.number().optional() });
const ofStep = { step: z.string(), attempt: z.number() };

/** The data of every event. Only optional fields may be added here, and no field may be removed (docs/adr/0005). */
const shapes = {
  run_started: {
    data: z.strictObject({
      version: z.number(),
      input: map,
      mode: z.enum(['normal', 'episode']),
      trigger_type: z.string(),
      trigger_steps: z.record(z.string(), map),
      seed_results: z.record(z.string(), json),
      session_id: z.string(),
      started_by: z.string(),
      branch_rule: z.literal('edges').optional(),
      earlier_turns: z.strictObject({ agent: z.string(), steps: map }).optional(),
      rerun_of: z.strictObject({ run_id: z.string(), from_step: z.string().optional() }).optional(),
      traceparent: z.string().optional(),
      parent: z
        .strictObject({
          run_id: z.string(),
          workflow_id: z.string(),
          step_id: z.string(),
          depth: z.number(),
          root: z.string().optional(),
          detached: z.literal(true).optional(),
          agents: z.array(z.string()).optional(),
          limits: bounds.optional(),
        })
        .optional(),
      beneath: z.strictObject({ root_run_id: z.string(), depth: z.number() }).optional(),
      withheld_scopes: z.array(z.string()).optional(),
      budget: z.number().optional(),
      spends_for: z.string().optional(),
      acts_for: z.strictObject({ user_id: z.string(), pat_id: z.string().nullable() }).optional(),
      outside_input: z.string().optional(),
      private_input: z.string().optional(),
    }),
  },
  state_changed: {
    data: z.strictObject({
      from: status,
      to: status,
      error: z.strictObject({ code: z.string(), message: z.string(), step_id: z.string() }).optional(),
      by: z.string().optional(),
      reason: z.enum(['insufficient_credits', 'budget_spent']).optional(),
    }),
  },
  stop_requested: { data: z.strictObject({ mode: z.literal('graceful'), by: z.string() }) },
  step_started: { ...ofStep, data: z.strictObject({ term: z.number().int().positive().optional() }) },
  step_completed: {
    step: z.string(),
    attempt: z.number().optional(),
    data: z.union([
      z.strictObject({
        result: z.custom<StepResult>(value => value !== undefined),
        consumed,
        credits,
        turn: turn.optional(),
        digest: z.string().optional(),
        context: z.number().optional(),
      }),
      z.strictObject({
        skipped: z.literal(true),
        reason: z.enum([
          'blocked',
          'out_of_scope',
          'step_disabled',
          'branch_not_taken',
          'run_stopped',
          'not_approved',
          'not_repeated',
        ]),
      }),
    ]),
  },
  step_failed: {
    ...ofStep,
    data: z.strictObject({
      error,
      continues: z.literal(true).optional(),
      tolerated: z.literal(true).optional(),
      caused_by_step_id: z.string().optional(),
      consumed,
      credits,
    }),
  },
  step_cancelled: {
    ...ofStep,
    data: z.strictObject({
      cancelled: z.literal(true),
      reason: z.enum(['run_failed', 'RUN_STOPPED', 'step_failed', 'limit_reached']),
      caused_by_step_id: z.string().optional(),
      partial: z.string().optional(),
    }),
  },
  step_retrying: {
    ...ofStep,
    data: z.strictObject({ attempt: z.number(), error, delay_ms: z.number(), consumed, credits }),
  },
  step_log: { ...ofStep, data: z.strictObject({ lines: z.array(z.string()) }) },
  step_waiting: { ...ofStep, data: z.strictObject({ until: z.number() }) },
  task_pending: {
    ...ofStep,
    data: z.strictObject({
      name: z.string(),
      instructions: z.string(),
      form: map.nullable(),
      assignees: z.array(z.string()),
      due_at: z.number().nullable(),
      on_timeout: z.enum(['fail', 'approve', 'reject']),
      in_doubt: z.literal(true).optional(),
      to_decide: z.string().optional(),
    }),
  },
  task_completed: {
    ...ofStep,
    data: z.strictObject({
      approved: z.boolean(),
      completed_by: z.string().nullable(),
      timed_out: z.literal(true).optional(),
      decision: z.enum(['repeat', 'skip', 'result']).optional(),
    }),
  },
  step_expanded: {
    ...ofStep,
    data: z.strictObject({
      plan: z.union([
        z.strictObject({
          type: z.literal('for_each'),
          count: z.number(),
          concurrency: z.number(),
          on_item_error: z.enum(['fail', 'continue']),
        }),
        z.strictObject({
          type: z.literal('agent'),
          model: z.string(),
          max_turns: z.number(),
          max_tool_calls: z.number(),
          budget: z.number().optional(),
          fitted: z.literal(true).optional(),
          timeout_s: z.number().optional(),
          closing_s: z.number().optional(),
          call_price: z.number().optional(),
          on_limit: z.enum(['answer', 'fail']),
          context: z.number().optional(),
          compact_at: z.number().optional(),
          memories: z.number().optional(),
        }),
      ]),
      items: z.array(json),
      agent: map.optional(),
    }),
  },
  steps_added: {
    ...ofStep,
    data: z.strictObject({
      parent: z.string(),
      steps: z.array(
        z.strictObject({
          id: z.string(),
          type: z.string(),
          depends_on: z.array(z.string()).optional(),
          fields: map.optional(),
        }),
      ),
    }),
  },
  child_called: {
    ...ofStep,
    data: z.strictObject({
      run_id: z.string(),
      workflow_id: z.string(),
      version: z.number(),
      input: map,
      detach: z.literal(true).optional(),
      outside_input: z.string().optional(),
      private_input: z.string().optional(),
      agent: z.strictObject({ id: z.string(), limits: bounds.optional() }).optional(),
      budget: z.number().optional(),
    }),
  },
  child_ended: {
    ...ofStep,
    data: z.strictObject({
      run_id: z.string(),
      status: z.enum(['completed', 'failed', 'stopped', 'refused']),
      spent: z.number().optional(),
    }),
  },
} satisfies Record<RunEvent['type'], z.ZodRawShape>;

const common = <T extends RunEvent['type']>(type: T) =>
  z.strictObject({ at: z.number(), type: z.literal(type), ...shapes[type] });
const eventShape = z.union(Object.keys(shapes).map(type => common(type as RunEvent['type'])));

test('the shapes are those of the types', () => {
  type DataOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>['data'];
  type ShapeOf<T extends RunEvent['type']> = z.infer<(typeof shapes)[T]['data']>;
  // toEqualTypeOf distinguishes an alias of free-form JSON from its expansion, so such data is compared in two parts.
  expectTypeOf<keyof ShapeOf<'run_started'>>().toEqualTypeOf<keyof DataOf<'run_started'>>();
  expectTypeOf<ShapeOf<'run_started'>>().toExtend<DataOf<'run_started'>>();
  expectTypeOf<ShapeOf<'state_changed'>>().toEqualTypeOf<DataOf<'state_changed'>>();
  expectTypeOf<ShapeOf<'stop_requested'>>().toEqualTypeOf<DataOf<'stop_requested'>>();
  expectTypeOf<ShapeOf<'step_completed'>>().toEqualTypeOf<DataOf<'step_completed'>>();
  expectTypeOf<keyof ShapeOf<'step_failed'>>().toEqualTypeOf<keyof DataOf<'step_failed'>>();
  expectTypeOf<ShapeOf<'step_failed'>>().toExtend<DataOf<'step_failed'>>();
  expectTypeOf<ShapeOf<'step_cancelled'>>().toEqualTypeOf<DataOf<'step_cancelled'>>();
  expectTypeOf<keyof ShapeOf<'step_retrying'>>().toEqualTypeOf<keyof DataOf<'step_retrying'>>();
  expectTypeOf<ShapeOf<'step_retrying'>>().toExtend<DataOf<'step_retrying'>>();
  expectTypeOf<ShapeOf<'step_log'>>().toEqualTypeOf<DataOf<'step_log'>>();
  expectTypeOf<ShapeOf<'step_waiting'>>().toEqualTypeOf<DataOf<'step_waiting'>>();
  expectTypeOf<ShapeOf<'task_pending'>>().toEqualTypeOf<DataOf<'task_pending'>>();
  expectTypeOf<ShapeOf<'task_completed'>>().toEqualTypeOf<DataOf<'task_completed'>>();
  expectTypeOf<keyof ShapeOf<'step_expanded'>>().toEqualTypeOf<keyof DataOf<'step_expanded'>>();
  expectTypeOf<ShapeOf<'step_expanded'>>().toExtend<DataOf<'step_expanded'>>();
  expectTypeOf<ShapeOf<'steps_added'>>().toEqualTypeOf<DataOf<'steps_added'>>();
  expectTypeOf<ShapeOf<'child_called'>>().toEqualTypeOf<DataOf<'child_called'>>();
  expectTypeOf<ShapeOf<'child_ended'>>().toEqualTypeOf<DataOf<'child_ended'>>();
});
