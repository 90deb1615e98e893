import { z } from 'zod';
import { storageProblem } from '../../platform/storable-json.ts';
import { MAX_TIMEOUT_S } from '../core/compile.ts';
import type { GraphStep, JsonMap, RunStartedData } from '../core/index.ts';
import { LuaPool } from '../languages/lua/index.ts';
import type { StepTypes } from '../ports/step-type.ts';
import { commonFields } from '../steps/common-fields.ts';
import { createStepTypes } from '../steps/registry.ts';
import { validateOverrides } from '../validation/index.ts';
import { Violation } from './checkers/violation.ts';
import { hostileValue } from './hostile-values.ts';
import type { StepPlan } from './plans.ts';
import type { Random } from './random.ts';
import type { Scenario } from './scenario.ts';
import type { Surroundings } from './surroundings.ts';

/**
 * The real types with the schemas of their fields, without the checks that need a Lua worker or an external service.
 */
const TYPES: StepTypes = new Map(
  [...createStepTypes({ luaPool: new LuaPool() })].map(([name, type]) => [name, { ...type, check: () => [] }]),
);

const COMMON: Readonly<Record<string, z.core.$ZodType>> = commonFields;
const FIXED = ['id', 'type', 'depends_on'];
const DECIDE_APPROVALS: Readonly<Record<string, readonly string[]>> = {
  human_task: ['assignees', 'form', 'on_timeout', 'timeout_s', 'disabled', 'gated'],
  for_each: ['steps', 'on_item_error'],
  agent: ['agent_id', 'tools', 'limits', 'on_limit', 'timeout_s'],
  call_workflow: ['workflow_id', 'version'],
  http_request: ['on_lost'],
  mcp_call: ['on_lost'],
};
const WAITING = ['human_task', 'wait', 'for_each', 'agent', 'call_workflow'];
const NOT_RETRIED = ['human_task', 'wait', 'for_each', 'agent'];
/** Problems that the schemas report. All other problems are ignored here. */
const SCHEMA_CODES = new Set([
  'unknown_field',
  'missing_field',
  'invalid_field',
  'retries_not_supported',
  'not_overridable',
]);
const SCOPE = { tenantId: 'tenant', projectId: 'project' };

type Overrides = Record<string, JsonMap>;

function fieldsOf({ type }: GraphStep): Record<string, z.core.$ZodType> {
  return { ...COMMON, ...TYPES.get(type)?.fields.shape };
}

/** Returns random overrides for a start, drawn from the schemas of the steps; mostly empty. */
export function hostileRequest(random: Random, steps: readonly GraphStep[]): Overrides {
  if (steps.length === 0 || !random.chance(0.15)) return {};
  return Object.fromEntries(
    random.some(steps, 0.3).map(step => {
      const fields = random.some(Object.entries(fieldsOf(step)), 0.12);
      const values = fields
        .map(([name, schema]) => [name, hostileValue(random, schema)])
        .filter(([name, value]) => name !== 'timeout_s' || value !== MAX_TIMEOUT_S);
      if (random.chance(0.03)) values.push(['no_such_field', 1]);
      return [step.id, Object.fromEntries(values)];
    }),
  );
}

/** Whether the schemas refuse a field, checked one by one and without the code under test. */
function isRefusedBySchema(step: GraphStep, override: JsonMap): boolean {
  const fields = new Map(Object.entries(fieldsOf(step)));
  return Object.entries(override).some(([name, value]) => {
    if (FIXED.includes(name)) return false;
    if (name === 'on_error') return true;
    if (DECIDE_APPROVALS[step.type]?.includes(name)) return true;
    if (NOT_RETRIED.includes(step.type) && name === 'retry_count' && value) return true;
    const schema = fields.get(name);
    return schema === undefined ? TYPES.has(step.type) : !z.safeParse(schema, value).success;
  });
}

/** Gives the run the overrides that it requests if they pass the checks of a start, and none otherwise. */
export async function admitRequest({ graph, data, request, runId }: Scenario, at: Surroundings): Promise<void> {
  if (Object.keys(request).length === 0) return;
  if (storageProblem({ trigger_steps: request }) !== null) {
    at.count('start refused: override not storable');
    return;
  }
  const problems = await validateOverrides(graph, request, TYPES, SCOPE);
  const refusing = graph.steps.filter(step => isRefusedBySchema(step, overrideOf(request, step.id)));
  const refused = problems.filter(({ code }) => SCHEMA_CODES.has(code));
  for (const { id } of refusing) {
    if (!refused.some(({ step_id }) => step_id === id))
      throw new Violation(
        'overrides',
        `a start of ${runId} takes ${JSON.stringify(request[id]).slice(0, 300)} for "${id}"`,
      );
  }
  for (const { step_id, path, message } of refused) {
    if (!refusing.some(({ id }) => id === step_id))
      throw new Violation('overrides', `a start of ${runId} refuses ${path} of "${step_id}": ${message}`);
  }
  if (problems.length > 0) {
    at.count('start refused: override invalid');
    return;
  }
  at.count('start with drawn overrides');
  override(data, request);
}

/**
 * Overrides the run's timing fields with values that no start accepts any more, but that logs from
 * before the checks contain.
 */
export function storedUnchecked(
  random: Random,
  { steps, plans, data }: { steps: readonly GraphStep[]; plans: Map<string, StepPlan>; data: RunStartedData },
): boolean {
  if (!random.chance(0.05)) return false;
  const numbers = Object.entries(COMMON).filter(
    ([, schema]) => schema instanceof z.ZodOptional && schema.unwrap() instanceof z.ZodNumber,
  );
  for (const step of random.some(steps, 0.4)) {
    const plan = plans.get(step.id);
    const waits = plan?.kind !== 'works' || WAITING.includes(step.type);
    const drawn = numbers.map(([name, schema]) => [name, hostileValue(random, schema)] as const);
    const stored = drawn.filter(
      ([name, value]) => isStorable(value) && !(waits && name === 'timeout_s' && isLong(value)),
    );
    override(data, { [step.id]: Object.fromEntries(stored) as JsonMap });
    // Failing this often shows that retries stop at their limit.
    if (
      plan?.kind === 'works' &&
      stored.some(([name, value]) => name === 'retry_count' && Number(value) > 10) &&
      random.chance(0.5)
    )
      plans.set(step.id, { ...plan, failures: 12, retryable: true });
  }
  return true;
}

/** The log is JSON, which represents neither NaN nor infinity. */
const isStorable = (value: unknown): boolean => typeof value !== 'number' || Number.isFinite(value);
/** A wait of a whole day takes a hundred thousand heartbeats of virtual time. */
const isLong = (value: unknown): boolean => typeof value === 'number' && value > 60;

function overrideOf(overrides: Overrides, step: string): JsonMap {
  return (Object.hasOwn(overrides, step) ? overrides[step] : undefined) ?? {};
}

function override(data: RunStartedData, more: Overrides): void {
  const merged = new Map(Object.entries(data.trigger_steps));
  for (const [step, fields] of Object.entries(more)) merged.set(step, { ...merged.get(step), ...fields });
  data.trigger_steps = Object.fromEntries(merged);
}
