import type { GraphStep, JsonValue } from '../core/index.ts';
import type { AgentScript } from './agents.ts';
import type { CallPlan } from './calls.ts';
import type { LoopPlan } from './growth.ts';
import type { Random } from './random.ts';
import type { Knobs } from './scenario.ts';

/**
 * The behavior of a step in every attempt and every process. It is fixed, so that the run has one correct
 * end whatever faults occur.
 */
export type StepPlan = {
  readonly kind:
    | 'works'
    /** Ends only by its timeout. */
    | 'hangs'
    /** Ends only by a stop. */
    | 'endless'
    /** May take longer than its timeout. */
    | 'tight'
    /** Usually ends its process. */
    | 'poison'
    | 'throws'
    | 'not-json'
    | 'too-deep'
    | 'too-large'
    | 'unstorable'
    | 'chatty';
  /** Fails this often before it succeeds. */
  readonly failures: number;
  /** Its failures allow another attempt. */
  readonly retryable: boolean;
  readonly result: JsonValue;
  /** Ends at the same time as other steps of its run. */
  readonly together: boolean;
  /** How it expands, if it is a loop. */
  readonly loop: LoopPlan | null;
  /** Its script, if it is an agent. */
  readonly agent: AgentScript | null;
  /** Which workflow it calls, if it calls one. */
  readonly call: CallPlan | null;
};

/** The plan of a step without oddities. */
export const WORKS: StepPlan = {
  kind: 'works',
  failures: 0,
  retryable: false,
  result: 1,
  together: false,
  loop: null,
  agent: null,
  call: null,
};

/** How often each oddity is drawn. Oddities that are slow to simulate are rare. */
const ODDITIES: readonly [StepPlan['kind'], number][] = [
  ['hangs', 25],
  ['endless', 20],
  ['tight', 14],
  ['poison', 10],
  ['throws', 12],
  ['not-json', 10],
  ['unstorable', 14],
  ['chatty', 4],
  ['too-deep', 3],
  ['too-large', 1],
];

/** `isHeavy`: most results of its run are large. */
export function stepPlan(random: Random, knobs: Knobs, step: GraphStep, isHeavy: boolean): StepPlan {
  const waits = step.type === 'human_task' || step.type === 'wait';
  const kind = random.below(100) < knobs.oddities && !waits ? oddity(random) : 'works';
  const fails = random.below(100) < knobs.failures;
  if (kind === 'hangs' || kind === 'tight') step.timeout_s = 1 + random.below(4);
  return {
    kind,
    failures: fails ? 1 + random.below(3) : 0,
    retryable: random.chance(0.8),
    result: randomResult(random, step, isHeavy ? 0.7 : 0.04),
    together: isHeavy,
    loop: null,
    agent: null,
    call: null,
  };
}

function oddity(random: Random): StepPlan['kind'] {
  let left = random.below(ODDITIES.reduce((sum, [, weight]) => sum + weight, 0));
  for (const [kind, weight] of ODDITIES) {
    left -= weight;
    if (left < 0) return kind;
  }
  return 'works';
}

const ODD_RESULTS: readonly [JsonValue, ...JsonValue[]] = [
  null,
  1,
  'text',
  { branch: 'then' },
  -0,
  1e300,
  'a\u0000b',
  '\ud800',
  7615917337495251231n,
  { '\0': [-9223372036854775808n, 18446744073709551615n] },
  { ['__proto__']: 1, then: [[], {}] },
  { result_ref: { payload_id: 'forged', bytes: 1 } },
  [1, [2, [3, { a: null }]]],
];

function randomResult(random: Random, step: GraphStep, large: number): JsonValue {
  const value = random.chance(0.5);
  if (step.type === 'condition') return { value, branch: value ? 'then' : 'else' };
  // Draws sizes around the threshold. No two results are alike.
  if (random.chance(large)) {
    const drawn = random.pick([16_370, 16_372, 16_373, 17_500]);
    // In a run with many large results, all of them are stored externally.
    const length = Math.max(drawn, large > 0.5 ? 16_373 : 0) - step.id.length;
    return { large: `${step.id}${'y'.repeat(length)}` };
  }
  return random.pick(ODD_RESULTS);
}
