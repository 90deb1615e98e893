import { readJson } from '../../platform/json-text.ts';
import { type GraphStep, type JsonValue, MAX_CALL_DEPTH, type SkipReason } from '../core/index.ts';
import { type CallPlan, calledScenario, depthOf } from './calls.ts';
import { gatheredResult } from './growth.ts';
import { History, type StepHistory } from './history.ts';
import { effectiveFields, expectedFate, fails, mayContinue } from './oracle.ts';
import type { StepPlan } from './plans.ts';
import type { Scenario } from './scenario.ts';

/** How each authored step ends: with a result, skipped for a reason, or failed without failing the run. */
export type ExpectedEnd = {
  status: 'completed' | 'failed';
  ends: Map<string, { result: JsonValue } | { failed: true } | SkipReason>;
};

/**
 * Returns the end of an undisturbed run: one step after the other, without time, slots or faults. Null if the run has
 * no end, because one of its steps ends only by a stop.
 */
export function expectedEnd(scenario: Scenario): ExpectedEnd | null {
  return new Undisturbed(scenario).run();
}

class Undisturbed {
  readonly #history: History;
  readonly #plans: Scenario['plans'];
  readonly #scenario: Scenario;

  constructor(scenario: Scenario) {
    const { graph, data, plans } = scenario;
    this.#scenario = scenario;
    this.#history = new History(graph);
    this.#history.add({ at: 0, type: 'run_started', data });
    this.#plans = plans;
  }

  run(): ExpectedEnd | null {
    for (let step = this.#next(); step !== undefined; step = this.#next()) {
      const end = this.#end(step);
      if (end === 'endless') return null;
      if (end === 'failed') return { status: 'failed', ends: this.#ends() };
    }
    return { status: 'completed', ends: this.#ends() };
  }

  #next(): StepHistory | undefined {
    const hasEnded = (id: string) => this.#history.step(id).end !== null;
    return [...this.#history.steps.values()].find(
      step => step.end === null && step.dependencies.every(hasEnded) && step.children.every(hasEnded),
    );
  }

  #end({ spec, expanded }: StepHistory): 'ended' | 'failed' | 'endless' {
    const step = spec.id;
    const fate = expanded === null ? expectedFate(this.#history, step) : 'run';
    const plan = this.#plans.get(step);
    if (fate !== 'run') this.#skip(step, fate);
    // What people approve, and what a budget permits, is not known in advance.
    else if (plan === undefined || plan.kind === 'endless' || plan.agent !== null) return 'endless';
    else if (fails(effectiveFields(this.#history, spec), plan)) return this.#fail(step);
    else if (plan.call !== null) return this.#call(step, plan, plan.call);
    else if (expanded !== null) this.#complete(step, gatheredResult(this.#history, step));
    else if (plan.loop !== null && plan.loop.items > 0) this.#expand(spec, plan.loop.items);
    else this.#complete(step, plan.loop === null ? asStored(plan.result) : { results: [], failed: 0 });
    return 'ended';
  }

  /** A called run behaves in the same way each time: if it fails, it fails for all retries. */
  #call(step: string, plan: StepPlan, { workflowId, detach }: CallPlan): 'ended' | 'failed' | 'endless' {
    const depth = depthOf(this.#scenario.data);
    if (depth >= MAX_CALL_DEPTH) return this.#fail(step);
    if (!detach) {
      const call = { run_id: 'called', workflow_id: workflowId, version: 1, input: {} };
      const child = expectedEnd(calledScenario(this.#scenario, step, call));
      if (child === null) return 'endless';
      if (child.status === 'failed') return this.#fail(step);
    }
    this.#complete(step, detach ? null : asStored(plan.result));
    return 'ended';
  }

  /** The failure of an authored step fails the run; that of an added step ends its item or its parent. */
  #fail(step: string): 'ended' | 'failed' {
    const { added, spec: failed } = this.#history.step(step);
    const error = { code: 'boom', message: '' };
    if (mayContinue(effectiveFields(this.#history, failed))) {
      this.#history.add({ at: 0, type: 'step_failed', step, attempt: 1, data: { error, continues: true } });
      return 'ended';
    }
    if (added === null) return 'failed';
    this.#history.add({ at: 0, type: 'step_failed', step, attempt: 1, data: { error, tolerated: true } });
    const { spec } = this.#history.step(added.parent);
    const isFatal = spec.on_item_error !== 'continue';
    const prefix = isFatal ? `${added.parent}.` : `${added.parent}.${added.index}.`;
    for (const [id, { end }] of this.#history.steps)
      if (end === null && id.startsWith(prefix)) this.#skip(id, 'blocked');
    return isFatal ? this.#fail(added.parent) : 'ended';
  }

  #expand({ id: step, steps }: GraphStep, count: number): void {
    const plan = { type: 'for_each', count, concurrency: 1, on_item_error: 'continue' } as const;
    const items = Array.from({ length: count }, (_, index) => index);
    this.#history.add({ at: 0, type: 'step_expanded', step, attempt: 1, data: { plan, items } });
    const graph = steps as GraphStep[];
    const added = items.flatMap(index => graph.map(({ id, type }) => ({ id: `${step}.${index}.${id}`, type })));
    this.#history.add({ at: 0, type: 'steps_added', step, attempt: 1, data: { parent: step, steps: added } });
  }

  #skip(step: string, reason: SkipReason): void {
    this.#history.add({ at: 0, type: 'step_completed', step, data: { skipped: true, reason } });
  }

  #complete(step: string, result: JsonValue): void {
    this.#history.add({ at: 0, type: 'step_completed', step, attempt: 1, data: { result } });
  }

  #ends(): ExpectedEnd['ends'] {
    const ends: ExpectedEnd['ends'] = new Map();
    for (const [id, { end, added }] of this.#history.steps) {
      if (added !== null) continue;
      if (end?.type === 'step_failed') ends.set(id, { failed: true });
      if (end?.type !== 'step_completed') continue;
      ends.set(id, 'skipped' in end.data ? end.data.reason : { result: end.data.result as JsonValue });
    }
    return ends;
  }
}

/**
 * Returns a result as the log must keep it, with U+FFFD for characters that PostgreSQL cannot read. Written
 * independently of the engine's rule.
 */
function asStored(result: JsonValue): JsonValue {
  const text = JSON.stringify(result).replaceAll(/\\u(?:0000|d[89a-f][0-9a-f]{2})/g, '\uFFFD');
  return readJson(text);
}
