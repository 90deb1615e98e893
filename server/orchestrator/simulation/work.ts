import { isObject } from '../../platform/json.ts';
import {
  type AgentProgress,
  addedId,
  agentStepType,
  CONTEXT_LENGTH_EXCEEDED,
  type Consumption,
  callId,
  type GraphStep,
  type JsonMap,
  type JsonValue,
  type OfAgentStep,
  type StepError,
  type TaskRequest,
  type TurnCall,
} from '../core/index.ts';
import type { Attempt, Gathered, Outcome, StepType, StepTypes } from '../ports/step-type.ts';
import { stepTypeDescription } from '../steps/descriptions.ts';
import { loopResult } from '../steps/for-each/for-each.ts';
import { type AgentScript, closesItself } from './agents.ts';
import type { Auditor } from './auditor.ts';
import type { CallPlan } from './calls.ts';
import { earlierEnd } from './earlier-turns.ts';
import type { LoopPlan } from './growth.ts';
import { asksWhenLost, IN_DOUBT } from './in-doubt.ts';
import type { StepPlan } from './plans.ts';
import type { Random } from './random.ts';
import { REFUSED } from './scenario.ts';
import type { Server } from './server.ts';
import type { Surroundings } from './surroundings.ts';

/** An attempt that a process is executing. */
export type Execution = { server: Server; attempt: Attempt; signal: AbortSignal; plan: StepPlan };

/**
 * The maximum time in which the end of a run or a step aborts its attempts, in ms: the slowest answer of the database.
 */
const ABORT_WITHIN_MS = 1_000;
/** Steps that end together end at a multiple of this. */
const TOGETHER_MS = 200;

/**
 * The behavior of attempts according to the plans of their steps, and the conditions that must
 * hold when one starts or ends.
 */
export class Work {
  readonly executing = new Set<Execution>();
  readonly #at: Surroundings;
  readonly #auditor: Auditor;
  readonly #begun = new Set<string>();

  constructor(at: Surroundings, auditor: Auditor) {
    this.#at = at;
    this.#auditor = auditor;
  }

  executingOn(server: Server): Execution[] {
    return [...this.executing].filter(execution => execution.server === server && !execution.signal.aborted);
  }

  /** Returns the step types of one process. */
  typesOn(server: Server): StepTypes {
    const type = (name: string, more: Partial<StepType> = {}): [string, StepType] => {
      const execute: StepType['execute'] = (attempt, signal) => this.#execute(server, attempt, signal);
      return [
        name,
        {
          type: name,
          ...stepTypeDescription(name),
          defaultTimeoutS: null,
          retries: true,
          execute,
          ...more,
        } as StepType,
      ];
    };
    return new Map([
      type('lua_script'),
      type('condition', { atOnce: attempt => this.#atOnce(server, attempt) }),
      type('for_each', { atOnce: attempt => this.#atOnce(server, attempt) }),
      type('agent'),
      type('agent_turn'),
      type('agent_tool'),
      type('agent_compaction'),
      type('agent_approval', { waitsForPeople: true, execute: attempt => this.#ask(server, attempt) }),
      type('call_workflow'),
      type('mcp_call', { queues: true, io: true }),
      type('human_task', { execute: attempt => this.#ask(server, attempt) }),
      type('wait', { retries: false, execute: attempt => this.#wait(server, attempt) }),
    ]);
  }

  /** Removes the attempts of a process that has died. */
  gone(server: Server): void {
    for (const execution of this.executing) if (execution.server === server) this.executing.delete(execution);
  }

  /** Checks that no attempt is still executing for a step that has ended. */
  checkAborts(): void {
    for (const { server, attempt, signal } of this.executing) {
      if (signal.aborted || !server.alive) continue;
      const run = this.#auditor.run(attempt.run.id);
      if (run?.history.step(attempt.step.id).end == null) continue;
      if (this.#at.agenda.now - run.changedAt > ABORT_WITHIN_MS && server.leads && server.session?.isOpen === true)
        this.#at.fail('abort', `"${attempt.step.id}" of ${run.id} has ended, and is still being worked on`);
    }
  }

  async #execute(server: Server, attempt: Attempt, signal: AbortSignal): Promise<Outcome> {
    if (!server.seam()) return new Promise(() => {});
    this.#checkStart(server, attempt);
    const earlier = this.#earlier(attempt);
    if (earlier !== null) return earlier;
    // A call whose run has ended asks no question: the log has the run's end.
    const mayHaveHappened = attempt.inDoubt && attempt.child == null;
    if (mayHaveHappened && asksWhenLost(attempt.step)) return { kind: 'waiting', task: IN_DOUBT };
    const plan = this.#plan(attempt);
    if (plan.kind === 'throws') throw new Error('a step type with a defect');
    // Read first, because it is gone when the attempt is aborted.
    const { gathered = null, child = null, agent = null } = attempt;
    const execution: Execution = { server, attempt, signal, plan };
    this.executing.add(execution);
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    const settle = () => {
      if (!this.executing.delete(execution)) return;
      if (signal.aborted) this.#at.count('outcome after the abort');
      resolve(this.#outcome(attempt, plan, { gathered, hasCalled: child !== null, agent }));
      // Late log lines must be ignored.
      if (this.#at.random.chance(0.05)) attempt.log(['afterwards']);
    };
    signal.addEventListener('abort', () => this.#aborted(server, settle));
    this.#happen(server, execution, settle);
    return promise;
  }

  /** Evaluates a step in the turn that starts it, unless that takes more than a moment. */
  #atOnce(server: Server, attempt: Attempt): Outcome | undefined {
    const { ahead } = this.#at;
    const plan = this.#plan(attempt);
    server.evaluatingMs += ahead.pick([0, 0.1, 0.1, 0.7, 1.2]);
    this.#checkNotRepeated(attempt);
    if (NEVER_AT_ONCE.includes(plan.kind) || ahead.chance(0.15)) return undefined;
    if (plan.kind === 'throws') throw new Error('a step type with a defect');
    if (plan.kind === 'poison' && this.#at.trouble(0.8)) {
      this.#at.count('crash by a step that was decided ahead');
      const key = `${attempt.run.id} ${attempt.step.id}`;
      const times = (this.#at.endedProcesses.get(key)?.times ?? 0) + 1;
      this.#at.endedProcesses.set(key, { attempt: this.#loggedAttempt(attempt), times });
      server.die();
      return undefined;
    }
    const outcome = this.#outcome(attempt, plan, { gathered: attempt.gathered ?? null, hasCalled: false, agent: null });
    // A large result takes a separate turn of the event loop: the step is executed after all.
    if (plan.kind !== 'too-large' || outcome.kind !== 'completed')
      server.anyRuntime?.bursts.evaluated(attempt, outcome, server.evaluatingMs);
    return outcome;
  }

  /**
   * Checks that a step which ended a process is not evaluated again before the log says that it began. Once it may be: the
   * next process knows of the death by the attempt that it interrupted, and may end in order after that attempt has ended.
   */
  #checkNotRepeated(attempt: Attempt): void {
    const key = `${attempt.run.id} ${attempt.step.id}`;
    const ended = this.#at.endedProcesses.get(key);
    if (ended !== undefined && ended.times > 1 && ended.attempt === this.#loggedAttempt(attempt))
      this.#at.fail('bursts', `"${key}" ended two processes, and is decided ahead again`);
  }

  #loggedAttempt({ run, step }: Attempt): number {
    return this.#auditor.run(run.id)?.history.steps.get(step.id)?.attempt ?? 0;
  }

  #happen(server: Server, { attempt, plan }: Execution, settle: () => void): void {
    const { random } = this.#at;
    const waits = attempt.began === undefined || attempt.step.type !== 'mcp_call' ? 0 : random.below(50);
    if (waits > 0) server.later(waits, () => attempt.began?.());
    if (plan.kind === 'poison' && this.#at.trouble(0.8)) {
      this.#at.count('crash by a step');
      server.later(1, () => server.die());
    }
    if (attempt.step.type === 'mcp_call' && waits === 0) attempt.began?.();
    if (plan.kind === 'hangs' || plan.kind === 'endless') return;
    const most = plan.kind === 'tight' ? 4_000 : random.chance(0.5) ? 20 : 1_500;
    const drawn = waits + random.below(most);
    const { now } = this.#at.agenda;
    const duration = plan.together ? upTo(now + drawn, TOGETHER_MS) - now : drawn;
    if (random.chance(0.1)) server.later(duration / 2, () => attempt.log(random.chance(0.8) ? ['working'] : []));
    if (plan.kind === 'chatty') server.later(duration / 3, () => attempt.log(['z'.repeat(40_000), 'z'.repeat(40_000)]));
    server.later(duration, settle);
  }

  /** Settles an aborted attempt soon, late or never. */
  #aborted(server: Server, settle: () => void): void {
    if (this.#at.random.chance(0.9)) server.later(this.#at.random.below(300), settle);
  }

  async #ask(server: Server, attempt: Attempt): Promise<Outcome> {
    if (!server.seam()) return new Promise(() => {});
    this.#checkStart(server, attempt);
    if (this.#at.random.chance(0.3)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      server.later(this.#at.random.below(30), resolve);
      await promise;
    }
    const { timeout_s, on_timeout } = attempt.step;
    const task: TaskRequest = {
      name: 'Approve\u0000',
      instructions: '',
      form: null,
      assignees: ['ann'],
      due_at: timeout_s === undefined ? null : attempt.now + timeout_s * 1_000 * this.#oddFactor(),
      on_timeout: on_timeout === 'approve' || on_timeout === 'reject' ? on_timeout : 'fail',
    };
    return { kind: 'waiting', task };
  }

  async #wait(server: Server, attempt: Attempt): Promise<Outcome> {
    if (!server.seam()) return new Promise(() => {});
    this.#checkStart(server, attempt);
    if (this.#at.scenario(attempt.run.id).plans.get(attempt.step.id)?.together)
      return { kind: 'sleeping', until: upTo(attempt.now + 1_000, 4_000) };
    // At a whole second, so that several waits end together, and sometimes in the past.
    const until = upTo(attempt.now + this.#at.random.below(9_000) - 1_000, 1_000);
    return { kind: 'sleeping', until: until * this.#oddFactor() };
  }

  /** Checks that no attempt is executed before the log says that it has started, and that none is executed twice. */
  #checkStart(server: Server, attempt: Attempt): void {
    const { run, step } = attempt;
    const key = `${run.id} ${step.id}#${attempt.attempt}`;
    if (this.#begun.has(key)) this.#at.fail('durability', `${key} is being worked on a second time`);
    this.#begun.add(key);
    const logged = this.#auditor.run(run.id);
    if (logged === undefined || logged.history.step(step.id).attempt < attempt.attempt) {
      this.#at.fail('durability', `${key} is being worked on, but the log does not say that it began`);
      return;
    }
    for (const dependency of logged.history.step(step.id).dependencies) {
      if (logged.history.step(dependency).end === null)
        this.#at.fail('order', `${key} is being worked on before the end of "${dependency}" is in the log`);
      // A loop that gathers its results, or an agent, reads nothing else.
      if (attempt.gathered != null || (attempt.agent != null && !agentStepType(step.id))) continue;
      const { end } = logged.history.step(dependency);
      const data = end?.type === 'step_completed' ? end.data : null;
      const isResult = data !== null && 'result' in data;
      const result = isResult ? data.result : (logged.state.results.get(dependency) ?? null);
      const name = logged.history.step(dependency).added?.name ?? dependency;
      if (JSON.stringify(attempt.result(name)) !== JSON.stringify(result))
        this.#at.fail('replay', `${key} sees another result of "${dependency}" than the log has`);
      const error = end?.type === 'step_failed' ? end.data.error : undefined;
      if (JSON.stringify(attempt.errorOf?.(name)) !== JSON.stringify(error))
        this.#at.fail('replay', `${key} sees another error of "${dependency}" than the log has`);
    }
    const { added, isInDoubt } = logged.history.step(step.id);
    // A process that has lost the lead without knowing it may begin an attempt after another process considers it lost.
    const isLast = logged.history.step(step.id).attempt === attempt.attempt;
    if (isLast && attempt.inDoubt !== isInDoubt)
      this.#at.fail('in-doubt', `${key} may have happened: ${isInDoubt}, and is told: ${attempt.inDoubt}`);
    const isOfAgent = agentStepType(step.id) !== null;
    const item = added === null || isOfAgent ? null : { item: added.index, index: added.index };
    if (JSON.stringify(attempt.item ?? null) !== JSON.stringify(item))
      this.#at.fail('growth', `${key} is executed for ${JSON.stringify(attempt.item)}, not ${JSON.stringify(item)}`);
    if (attempt.run.tenantId !== logged.tenantId) this.#at.fail('tenant', `${key} runs for ${attempt.run.tenantId}`);
    if (!server.alive) this.#at.fail('defect', `${key} began in a dead process`);
  }

  /** Returns what a service's Retry-After header may contain. */
  #oddHint(): { retryAfterMs?: number } {
    const { values, knobs } = this.#at;
    return knobs.oddities > 0 && values.chance(0.02) ? { retryAfterMs: values.pick([Number.NaN, -1]) } : {};
  }

  /** Returns 1, or occasionally a factor that makes a computed time invalid. */
  #oddFactor(): number {
    const { values, knobs } = this.#at;
    return knobs.oddities > 0 && values.chance(0.03) ? values.pick(UNUSABLE) : 1;
  }

  /** Returns the end of a step that ended in the run from which this run continues: no person is asked again. */
  #earlier(attempt: Attempt): Outcome | null {
    const { run, step } = attempt;
    const { data } = this.#at.scenario(run.id);
    const end = earlierEnd(data, step.id);
    const givenEnd = attempt.earlier?.(step.id) ?? null;
    if (JSON.stringify(givenEnd) !== JSON.stringify(end))
      this.#at.fail(
        'earlier-turns',
        `"${step.id}" of ${run.id} had ended as ${JSON.stringify(end)}, and is told ${JSON.stringify(givenEnd)}`,
      );
    if (!isObject(givenEnd)) return null;
    const { result = null, error } = givenEnd;
    this.#at.count(isObject(error) ? 'earlier failure' : 'earlier result');
    if (isObject(error)) return { kind: 'failed', error: error as StepError, retryable: false };
    const ofAgent = this.#ofAgent(attempt, this.#plan(attempt)) ?? {};
    const calls = ofAgent.turn?.calls.map(({ tool, hash }, index): TurnCall => {
      const wasMade = earlierEnd(data, callId(step.id, index + 1)) !== null;
      return { tool, hash, policy: wasMade ? 'auto' : 'none' };
    });
    return { kind: 'completed', result: result as JsonValue, ...ofAgent, ...(calls && { turn: { calls } }) };
  }

  /**
   * Returns the calls for which a turn of an agent asks, the digest that distinguishes the results of calls, and the
   * tokens of its conversation; null for any other step.
   */
  #ofAgent({ run, step }: Attempt, { result }: StepPlan): OfAgentStep | null {
    const type = agentStepType(step.id);
    const text = JSON.stringify(result) ?? '';
    if (type === 'agent_tool') return { digest: text.slice(0, 16), context: text.length % 40 };
    if (type === 'agent_compaction') return { context: text.length % 60 };
    if (type !== 'agent_turn') return null;
    const { parent, index } = addedId(step.id) ?? { parent: '', index: 0 };
    const script = this.#at.scenario(run.id).plans.get(parent)?.agent ?? null;
    const calls = script?.turns[index - 1] ?? [];
    const context = script?.contexts[index - 1] ?? 0;
    if (script !== null && step.closing === undefined && closesItself(script, index))
      return { turn: { calls: [], limit: 'budget' }, context };
    return calls.length === 0 || step.closing !== undefined ? { context } : { turn: { calls: [...calls] }, context };
  }

  /** Whether the model finds the conversation too long for this turn. */
  #isRefused({ run, step }: Attempt): boolean {
    if (agentStepType(step.id) !== 'agent_turn') return false;
    const { parent, index } = addedId(step.id) ?? { parent: '', index: 0 };
    return this.#at.scenario(run.id).plans.get(parent)?.agent?.refused.includes(index) === true;
  }

  #plan(attempt: Attempt): StepPlan {
    const plan = this.#at.scenario(attempt.run.id).plans.get(attempt.step.id);
    if (plan === undefined) throw new Error(`there is no plan for "${attempt.step.id}"`);
    return plan;
  }

  #outcome(attempt: Attempt, plan: StepPlan, before: Before): Outcome {
    const { random } = this.#at;
    const consumed: Consumption[] = [
      ...(attempt.step.type === 'mcp_call' ? [{ action: 'tool_call' as const, quantity: 1 }] : []),
      ...(random.chance(0.1) ? [{ action: 'llm_input_tokens' as const, quantity: 1 + random.below(9) }] : []),
    ];
    const log = {
      ...(random.chance(0.15) && { log: ['done'] }),
      ...(consumed.length > 0 && { consumed }),
    };
    // A step that the turn has added is not in the log yet.
    const failures = this.#auditor.run(attempt.run.id)?.history.steps.get(attempt.step.id)?.retries ?? 0;
    if (failures < plan.failures) {
      const error = { code: 'boom', message: 'It broke.' };
      const retryAfter = random.chance(0.1) ? { retryAfterMs: random.below(5_000) } : {};
      return { kind: 'failed', error, retryable: plan.retryable, ...retryAfter, ...this.#oddHint(), ...log };
    }
    if (this.#isRefused(attempt)) {
      const error = { code: CONTEXT_LENGTH_EXCEEDED, message: 'It is too long.' };
      return { kind: 'failed', error, retryable: false, ...log };
    }
    if (plan.call !== null && !before.hasCalled) return callOutcome(plan.call, random);
    if (plan.agent !== null) return agentOutcome(plan.agent, before.agent);
    const ofAgent = this.#ofAgent(attempt, plan);
    if (ofAgent !== null) return { kind: 'completed', result: resultOf(plan), ...log, ...ofAgent };
    const loop = plan.loop === null ? null : loopOutcome(attempt.step, plan.loop, before.gathered);
    if (loop?.kind === 'expanding') return loop;
    return { kind: 'completed', result: loop?.result ?? resultOf(plan), ...log };
  }
}

type Before = { gathered: Gathered | null; hasCalled: boolean; agent: AgentProgress | null };

/** Returns the outcome of an agent: first it expands, and when its last turn has ended it returns the result. */
function agentOutcome({ plan }: AgentScript, progress: AgentProgress | null): Outcome {
  if (progress === null) return { kind: 'expanding', plan, items: [], agent: AGENT };
  return { kind: 'completed', result: { limit: progress.limit, turns: progress.turns.length } };
}

/** Large enough to be stored externally. */
const AGENT: JsonMap = { instructions: 'i'.repeat(17_000) };

/** Returns the outcome of a loop: first it expands, and when its items have ended it returns their results. */
function loopOutcome(step: GraphStep, { items: count }: LoopPlan, gathered: Gathered | null): LoopOutcome {
  if (count === 0) return { kind: 'completed', result: { results: [], failed: 0 } };
  if (gathered === null) {
    const items = Array.from({ length: count }, (_, index) => index);
    const on_item_error = step.on_item_error === 'continue' ? 'continue' : 'fail';
    const plan = { type: 'for_each', count, concurrency: Number(step.concurrency), on_item_error } as const;
    return { kind: 'expanding', plan, items };
  }
  return { kind: 'completed', result: loopResult(gathered) };
}

/** Returns the outcome of a step that calls a workflow, whether it waits for the run or not. */
function callOutcome(call: CallPlan, random: Random): Outcome {
  const input: JsonMap = random.chance(0.05) ? { large: 'i'.repeat(17_000) } : { n: random.below(100) };
  return { kind: 'calling', call: { ...call, version: 1, input } };
}

type LoopOutcome = Extract<Outcome, { kind: 'expanding' }> | { kind: 'completed'; result: JsonValue };

/** The plans of steps that take longer than a moment. */
const NEVER_AT_ONCE: readonly StepPlan['kind'][] = ['hangs', 'endless', 'tight', 'chatty'];

function upTo(time: number, multiple: number): number {
  return Math.ceil(time / multiple) * multiple;
}

const UNUSABLE: readonly [number, ...number[]] = [Number.NaN, Number.POSITIVE_INFINITY];

function resultOf(plan: StepPlan): JsonValue {
  switch (plan.kind) {
    case 'not-json':
      return { at: new Date(0), n: 1n } as unknown as JsonValue;
    case 'too-deep': {
      let value: JsonValue = 1;
      for (let depth = 0; depth < 300; depth++) value = [value];
      return value;
    }
    case 'too-large':
      return { text: 'x'.repeat(1024 * 1024) };
    case 'unstorable':
      return { text: REFUSED };
    case 'works':
    case 'hangs':
    case 'endless':
    case 'tight':
    case 'poison':
    case 'throws':
    case 'chatty':
      return plan.result;
  }
}
