import { beforeEach, describe, expect, test } from 'vitest';
import { boom, startData } from '../../testing/engine/facts.ts';
import { MAX_ADDED_IN_MEMORY } from './growth.ts';
import {
  type AgentPlan,
  agentProgress,
  type Command,
  compile,
  decide,
  effects,
  evolve,
  type GraphStep,
  grow,
  newRun,
  type RunEvent,
  type RunState,
  StoredValue,
  stepSpec,
  type TurnCall,
} from './index.ts';

let state: RunState;
let written: RunEvent[];
let now = 0;

const plan = (over: Partial<AgentPlan> = {}): AgentPlan => ({
  type: 'agent',
  model: 'test/model',
  max_turns: 3,
  max_tool_calls: 5,
  on_limit: 'answer',
  ...over,
});
const call = (policy: TurnCall['policy'] = 'auto', hash = 'h'): TurnCall => ({ tool: 'search', hash, policy });

/** Decides a command, and everything that follows from it. */
function decideAndGrow(command: Command): RunEvent[] {
  const before = written.length;
  for (let events = decide(state, command, now); events.length > 0; events = grow(state, now)) {
    for (const event of events) evolve(state, event);
    written.push(...events);
  }
  return written.slice(before);
}
const start = (step: string) => decideAndGrow({ type: 'start_attempt', step });
const attempt = (step: string) => state.steps.get(step)?.attempt ?? 0;
/** Starts and ends a step. A turn without calls is an answer. */
function run(step: string, calls: TurnCall[] = [], credits = 0): RunEvent[] {
  start(step);
  const turn = calls.length === 0 ? {} : { turn: { calls } };
  const command = { type: 'attempt_succeeded', step, attempt: attempt(step), result: null, digest: 'd' } as const;
  return decideAndGrow({ ...command, ...turn, ...(credits > 0 && { credits }) });
}
const fail = (step: string) => {
  start(step);
  return decideAndGrow({
    type: 'attempt_failed',
    step,
    attempt: attempt(step),
    error: boom,
    retryable: false,
    random: 0,
  });
};
const complete = (step: string, approved: boolean) => {
  start(step);
  const task = { name: '', instructions: '', form: null, assignees: [], due_at: null, on_timeout: 'fail' } as const;
  decideAndGrow({ type: 'attempt_waiting', step, attempt: attempt(step), task: { ...task, assignees: [] } });
  return decideAndGrow({ type: 'complete_task', step, approved, result: {}, by: 'ann' });
};
const statusOf = (step: string) => state.steps.get(step)?.status;
const ready = () => [...effects(state).ready];

/** Starts a run whose first step is the agent `research`, and expands the agent. */
function begin(over: Partial<AgentPlan> = {}, ...more: GraphStep[]): void {
  state = newRun('run', compile({ steps: [{ id: 'research', type: 'agent' }, ...more] }));
  written = [];
  decideAndGrow({ type: 'start', data: startData() });
  start('research');
  decideAndGrow({
    type: 'attempt_expanding',
    step: 'research',
    attempt: 1,
    plan: plan(over),
    items: [],
    agent: { instructions: 'Find it.' },
  });
}

beforeEach(() => {
  now = 1_000;
});

describe('an agent', () => {
  test('adds its first turn, and holds no attempt', () => {
    begin();
    expect(statusOf('research')).toBe('expanded');
    expect(ready()).toEqual(['research.1']);
    expect(stepSpec(state, 'research.1')).toMatchObject({ type: 'agent_turn', model: 'test/model', retry_count: 2 });
  });

  test('adds the calls of a turn, and its next turn once all of the calls have ended', () => {
    begin();
    run('research.1', [call(), call('auto', 'i')]);
    expect(ready()).toEqual(['research.1.1', 'research.1.2']);
    run('research.1.1');
    expect(state.steps.has('research.2')).toBe(false);
    run('research.1.2');
    expect(stepSpec(state, 'research.2').depends_on).toEqual(['research.1', 'research.1.1', 'research.1.2']);
    run('research.2');
    expect(ready()).toEqual(['research']);
    expect(agentProgress(state, 'research')).toMatchObject({ limit: null, toolCalls: 2, turns: [{}, {}] });
    run('research');
    expect(state.status).toBe('completed');
    expect([...state.steps.keys()]).toEqual(['research']);
  });

  test('counts the cost and usage of its steps, and leaves nothing in memory', () => {
    begin();
    const empty = state.residentBytes;
    run('research.1', [call()], 7);
    run('research.1.1', [], 2);
    const step = 'research.2';
    start(step);
    const consumed = [{ action: 'llm_output_tokens' as const, quantity: 3 }];
    decideAndGrow({
      type: 'attempt_succeeded',
      step,
      attempt: 1,
      result: new StoredValue('x', 20_000),
      consumed,
      credits: 5,
    });
    expect(agentProgress(state, 'research.1.1')).toMatchObject({
      step: 'research',
      spent: 14,
      usage: { inputTokens: 0, outputTokens: 3 },
      settings: { instructions: 'Find it.' },
    });
    run('research');
    expect(state.residentBytes).toBeLessThan(empty);
    expect(state.storedResults).toBe(0);
    expect(state.grown).toMatchObject({ reserved: 0, planned: 3, added: 3, ended: 3 });
  });

  test('continues after a failed call', () => {
    begin();
    run('research.1', [call()]);
    const [failed] = fail('research.1.1').filter(({ type }) => type === 'step_failed');
    expect(failed?.data).toEqual({ error: boom, continues: true });
    expect(ready()).toEqual(['research.2']);
    expect(agentProgress(state, 'research')?.turns[0]?.calls.get(1)).toMatchObject({ status: 'failed', error: boom });
  });

  test('fails with a failed turn, and so does its run', () => {
    begin();
    fail('research.1');
    expect(state.error).toEqual({
      code: boom.code,
      message: `"research.1" failed: ${boom.message}`,
      step_id: 'research',
    });
    expect(written.at(-2)).toMatchObject({ type: 'step_failed', data: { caused_by_step_id: 'research.1' } });
  });

  test('lets the run continue with on_error: continue', () => {
    state = newRun('run', compile({ steps: [{ id: 'research', type: 'agent', on_error: 'continue' }] }));
    written = [];
    decideAndGrow({ type: 'start', data: startData() });
    start('research');
    decideAndGrow({ type: 'attempt_expanding', step: 'research', attempt: 1, plan: plan(), items: [] });
    fail('research.1');
    expect(state.status).toBe('completed');
  });

  test('may run in a loop, as long as the added steps fit in memory', () => {
    const most = Math.floor(MAX_ADDED_IN_MEMORY / 2) - 1;
    begin({ max_turns: 1, max_tool_calls: most }, { id: 'other', type: 'agent' });
    start('other');
    const expand = (max_tool_calls: number) =>
      decideAndGrow({
        type: 'attempt_expanding',
        step: 'other',
        attempt: 1,
        plan: plan({ max_turns: 1, max_tool_calls }),
        items: [],
      });
    expect(expand(1)).toMatchObject([{ type: 'step_failed', data: { error: { code: 'too_many_steps' } } }, {}, {}, {}]);
  });
});

describe('a call that needs an approval', () => {
  test('begins only once it is approved', () => {
    begin();
    run('research.1', [call('ask'), call('auto', 'i')]);
    expect(ready()).toEqual(['research.1.1.ok', 'research.1.2']);
    complete('research.1.1.ok', true);
    expect(ready()).toEqual(['research.1.2', 'research.1.1']);
  });

  test('is skipped if it is rejected, and the agent continues', () => {
    begin();
    run('research.1', [call('ask')]);
    const events = complete('research.1.1.ok', false);
    expect(events).toContainEqual(
      expect.objectContaining({ step: 'research.1.1', data: { skipped: true, reason: 'not_approved' } }),
    );
    expect(ready()).toEqual(['research.2']);
  });

  test('is skipped if there was no approver to ask', () => {
    begin();
    run('research.1', [call('ask')]);
    fail('research.1.1.ok');
    expect(state.steps.get('research.1.1')).toMatchObject({ status: 'skipped', skipReason: 'not_approved' });
    expect(ready()).toEqual(['research.2']);
  });
});

describe('an agent at a limit', () => {
  test('closes with a turn that states the limit, and then has its answer', () => {
    begin({ max_turns: 1 });
    run('research.1', [call()]);
    run('research.1.1');
    expect(stepSpec(state, 'research.2').closing).toBe('max_turns');
    run('research.2', [call('auto', 'ignored')]);
    expect(ready()).toEqual(['research']);
    expect(agentProgress(state, 'research')).toMatchObject({ limit: 'max_turns' });
  });

  test('fails if on_limit says so, and is not charged for it', () => {
    begin({ max_turns: 1, on_limit: 'fail' });
    run('research.1', [call()]);
    run('research.1.1');
    expect(state.error).toMatchObject({ code: 'max_turns_reached', step_id: 'research' });
    expect(written.at(-2)).toMatchObject({ data: { caused_by_step_id: 'research.1' } });
  });

  test('detects from its results that it repeats itself', () => {
    begin({ max_turns: 50, max_tool_calls: 50 });
    for (let turn = 1; turn <= 5; turn++) {
      expect(stepSpec(state, `research.${turn}`).closing).toBeUndefined();
      run(`research.${turn}`, [call()]);
      run(`research.${turn}.1`);
    }
    expect(stepSpec(state, 'research.6').closing).toBe('repeated_calls');
  });

  test('ends the steps in flight when it times out, and answers', () => {
    begin({ timeout_s: 10 });
    run('research.1', [call(), call('ask', 'i')]);
    start('research.1.1');
    now += 9_999;
    expect(decideAndGrow({ type: 'expansion_timed_out', step: 'research' })).toEqual([]);
    now += 1;
    decideAndGrow({ type: 'expansion_timed_out', step: 'research' });
    expect([statusOf('research.1.1'), statusOf('research.1.2'), statusOf('research.1.2.ok')]).toEqual([
      'cancelled',
      'skipped',
      'skipped',
    ]);
    expect(ready()).toEqual(['research.2']);
    expect([...effects(state).timers]).toEqual([]);
    run('research.2');
    expect(agentProgress(state, 'research')).toMatchObject({ limit: 'timeout' });
  });

  test('reserves time for its closing turn, and ends with its results so far once that time has passed', () => {
    begin({ timeout_s: 10, closing_s: 4 });
    run('research.1', [call()]);
    start('research.1.1');
    now += 6_000;
    decideAndGrow({ type: 'expansion_timed_out', step: 'research' });
    expect(ready()).toEqual(['research.2']);
    expect([...effects(state).timers]).toMatchObject([{ step: 'research', kind: 'expansion' }]);
    start('research.2');
    now += 3_999;
    expect(decideAndGrow({ type: 'expansion_timed_out', step: 'research' })).toEqual([]);
    now += 1;
    decideAndGrow({ type: 'expansion_timed_out', step: 'research' });
    expect(statusOf('research.2')).toBe('cancelled');
    expect(ready()).toEqual(['research']);
    expect(agentProgress(state, 'research')).toMatchObject({ limit: 'timeout' });
    expect([...effects(state).timers]).toEqual([]);
  });

  test('ends in time if it closes for another limit while its provider asks to wait', () => {
    begin({ timeout_s: 10, closing_s: 4, max_turns: 1 });
    run('research.1', [call()]);
    run('research.1.1');
    expect(stepSpec(state, 'research.2').closing).toBe('max_turns');
    start('research.2');
    const error = { code: 'model_rate_limited', message: '' };
    const failed = {
      type: 'attempt_failed',
      step: 'research.2',
      attempt: 1,
      error,
      retryable: true,
      random: 0,
    } as const;
    decideAndGrow({ ...failed, retryAfterMs: 3_600_000 });
    expect(statusOf('research.2')).toBe('retrying');
    now += 10_000;
    decideAndGrow({ type: 'expansion_timed_out', step: 'research' });
    expect(statusOf('research.2')).toBe('cancelled');
    expect(agentProgress(state, 'research')).toMatchObject({ limit: 'max_turns' });
  });

  test('fails at its timeout if on_limit says so', () => {
    begin({ timeout_s: 10, on_limit: 'fail' });
    start('research.1');
    now += 10_000;
    decideAndGrow({ type: 'expansion_timed_out', step: 'research' });
    expect(state.error).toMatchObject({ code: 'step_timed_out', step_id: 'research' });
    expect(statusOf('research.1')).toBeUndefined();
  });
});

describe('a run with an agent', () => {
  test('adds nothing while it is paused, and continues when it is resumed', () => {
    begin();
    start('research.1');
    decideAndGrow({ type: 'pause', by: 'ann' });
    decideAndGrow({
      type: 'attempt_succeeded',
      step: 'research.1',
      attempt: 1,
      result: null,
      turn: { calls: [call()] },
    });
    expect(state.steps.has('research.1.1')).toBe(false);
    decideAndGrow({ type: 'resume', by: 'ann' });
    expect(ready()).toEqual(['research.1.1']);
  });

  test('lets the turn in flight end, and adds nothing, on a graceful stop', () => {
    begin();
    start('research.1');
    decideAndGrow({ type: 'stop', mode: 'graceful', by: 'ann' });
    decideAndGrow({
      type: 'attempt_succeeded',
      step: 'research.1',
      attempt: 1,
      result: null,
      turn: { calls: [call()] },
    });
    expect(state.status).toBe('stopped');
    expect(state.grown?.added).toBe(1);
  });

  test('ends the added steps before the agent on an immediate stop', () => {
    begin();
    run('research.1', [call(), call('ask', 'i')]);
    start('research.1.1');
    const events = decideAndGrow({ type: 'stop', mode: 'immediate', by: 'ann' });
    expect(events.flatMap(event => ('step' in event ? [event.step] : []))).toEqual([
      'research.1.1',
      'research.1.2.ok',
      'research.1.2',
      'research',
    ]);
  });
});
