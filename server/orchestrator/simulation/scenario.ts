import type { Graph, JsonMap, JsonValue, RunStartedData } from '../core/index.ts';
import { addAgents, agentPlans } from './agents.ts';
import { addCalls, addRunTools, type CalledWorkflow, withCalls } from './calls.ts';
import { addEarlierTurns } from './earlier-turns.ts';
import { addPureSteps, randomBranches, randomGraph } from './graphs.ts';
import { addLoops, loopPlans } from './growth.ts';
import { addJoins } from './joins.ts';
import { addManySkips } from './many-skips.ts';
import { hostileRequest, storedUnchecked } from './overrides.ts';
import { type StepPlan, stepPlan } from './plans.ts';
import type { Random } from './random.ts';

/** The knobs of a simulation. Turning them down makes a failing simulation smaller. */
export type Knobs = {
  runs: number;
  steps: number;
  /** Faults of processes, database and clocks. */
  faults: number;
  /** Commands to each run. */
  commands: number;
  /** Chance that a step is planned to fail, in percent. */
  failures: number;
  /** Chance that a step does something odd (hangs, throws, returns what cannot be stored), in percent. */
  oddities: number;
  /** Chance that a run belongs to a tenant that takes as much as possible, with many steps that hang, in percent. */
  hostile: number;
  /** Chance that the process is replaced repeatedly, in percent. */
  deployments: number;
  /** Chance that most steps of a run start together and return large results, in percent. */
  heavy: number;
  /** Chance that a run has loops, in percent. */
  growth: number;
  /** Chance that a run calls others, in percent. */
  calls: number;
  /** Chance that a run has agents, in percent. */
  agents: number;
  /** Chance that many runs of one tenant end at the same time, each with many events, in percent. */
  largeEnds: number;
  /** Chance that several processes share the workspaces by shards, in percent. */
  clusters: number;
};

export const FULL: Knobs = {
  runs: 6,
  steps: 9,
  faults: 4,
  commands: 4,
  failures: 12,
  oddities: 9,
  hostile: 5,
  deployments: 4,
  heavy: 4,
  growth: 50,
  calls: 30,
  agents: 30,
  largeEnds: 6,
  clusters: 50,
};

/** A run that is to be started, with the planned behavior of its steps. */
export type Scenario = {
  readonly runId: string;
  readonly tenantId: string;
  readonly projectId: string;
  readonly workflowId: string;
  readonly graph: Graph;
  readonly data: RunStartedData;
  readonly plans: ReadonlyMap<string, StepPlan>;
  /** The workflows that its steps call, directly or indirectly, by their ids. */
  readonly workflows: ReadonlyMap<string, CalledWorkflow>;
  /** Additional overrides that the start requests, used if they pass its checks. */
  readonly request: Record<string, JsonMap>;
  /** Whether its log holds overrides from before they were checked. */
  readonly unchecked: boolean;
  /** Whether the database refuses the data of its start. */
  readonly unstorable: boolean;
  /** Whether loading the run from its log ends the process. */
  readonly deadly: boolean;
};

/** Part of every value that the simulated database refuses, as PostgreSQL refuses some. */
export const REFUSED = 'REFUSED BY THE DATABASE';
export const TENANTS = ['tenant-a', 'tenant-b', 'tenant-c'] as const;
/**
 * Sources of random numbers. Hostile values, loops, calls, agents, runs called by agents, joins and many skips have
 * separate sources, so that they change nothing else of a seed.
 */
export type Sources = {
  random: Random;
  values: Random;
  growth: Random;
  calls: Random;
  agents: Random;
  runTools: Random;
  joins: Random;
  skips: Random;
  ahead: Random;
};

export function randomScenario(
  { random, values, growth, calls, agents, runTools, joins, skips, ahead }: Sources,
  knobs: Knobs,
  index: number,
): Scenario {
  const isHostile = random.below(100) < knobs.hostile;
  const graph = isHostile ? hostileGraph(random, knobs.steps) : randomGraph(random, knobs.steps);
  const grows = growth.below(100) < knobs.growth && !isHostile;
  if (grows) addLoops(growth, graph);
  const workflowId = `workflow-${index}`;
  if (!isHostile) addPureSteps(ahead, graph);
  const isCaller = calls.below(100) < knobs.calls && !isHostile;
  const workflows = isCaller ? addCalls(calls, knobs, workflowId, graph) : new Map<string, CalledWorkflow>();
  const hasAgents = agents.below(100) < knobs.agents && !isHostile;
  if (hasAgents) addAgents(agents, graph);
  addJoins(joins, graph);
  const unstorable = knobs.oddities > 0 && random.chance(0.01);
  const data = randomStart(random, graph);
  if (skips.chance(0.05)) data.beneath = { root_run_id: `above-run-${index}`, depth: 1 + skips.below(8) };
  if (unstorable) data.input = { text: REFUSED };
  const isHeavy = knobs.oddities > 0 && random.below(100) < knobs.heavy;
  if (isHeavy) gather(graph);
  const drawn = new Map(
    graph.steps.map(step => [step.id, isHostile ? ENDLESS : stepPlan(random, knobs, step, isHeavy)]),
  );
  if (grows) for (const [id, plan] of loopPlans(growth, knobs, graph)) drawn.set(id, plan);
  if (hasAgents) for (const [id, plan] of agentPlans(agents, knobs, drawn, graph)) drawn.set(id, plan);
  if (hasAgents) addRunTools(runTools, knobs, { workflowId, plans: drawn, workflows });
  if (hasAgents) addEarlierTurns(data, graph, drawn);
  if (!isHostile && !isHeavy) for (const [id, plan] of addManySkips(skips, graph)) drawn.set(id, plan);
  const plans = withCalls(graph, drawn);
  const hasOddities = knobs.oddities > 0;
  return {
    runId: `run-${index}`,
    tenantId: random.pick(TENANTS),
    projectId: 'project',
    workflowId,
    graph,
    data,
    plans,
    workflows,
    unchecked: hasOddities && storedUnchecked(values, { steps: graph.steps, plans, data }),
    request: hasOddities ? hostileRequest(values, graph.steps) : {},
    unstorable,
    deadly: knobs.oddities > 0 && random.chance(0.01),
  };
}

/**
 * Makes many large results arrive at the same time: all steps start together, except one that reads some of the others.
 */
function gather({ steps }: Graph): void {
  const [reader, ...others] = steps;
  for (const step of others) step.depends_on = [];
  if (reader !== undefined) reader.depends_on = others.slice(0, 3).map(({ id }) => id);
}

/** Steps that are all ready immediately and never end. */
function hostileGraph(random: Random, maxSteps: number): Graph {
  const size = 1 + random.below(Math.max(1, maxSteps));
  const isCalls = random.chance(0.5);
  return {
    steps: Array.from({ length: size }, (_, index) => ({ id: `s${index}`, type: isCalls ? 'mcp_call' : 'lua_script' })),
  };
}

const ENDLESS: StepPlan = {
  kind: 'endless',
  failures: 0,
  retryable: false,
  result: null,
  together: false,
  loop: null,
  agent: null,
  call: null,
};

function randomStart(random: Random, graph: Graph): RunStartedData {
  const ids = graph.steps.map(step => step.id);
  const isEpisode = random.chance(0.2);
  const named = isEpisode || random.chance(0.25) ? random.some(ids, 0.25) : [];
  const seeded = isEpisode || random.chance(0.1) ? random.some(ids, 0.5) : [];
  return {
    version: 1,
    input: random.chance(0.02) ? { large: 'x'.repeat(17_000) } : { n: random.below(100) },
    mode: isEpisode ? 'episode' : 'normal',
    trigger_type: 'manual',
    trigger_steps: Object.fromEntries(named.map(id => [id, randomOverride(random, ids)])),
    seed_results: Object.fromEntries(seeded.map(id => [id, randomSeed(random)])),
    session_id: 'session',
    started_by: 'ann',
  };
}

function randomOverride(random: Random, ids: readonly string[]): JsonMap {
  if (random.chance(0.5)) return {};
  return random.pick<JsonMap>([
    { disabled: true },
    { disabled: false },
    { retry_count: random.below(3), retry_delay_s: 1 },
    randomBranches(random, ids),
    { mode: 'validate' },
    { id: 'other', type: 'condition', depends_on: [] },
  ]);
}

function randomSeed(random: Random): JsonValue {
  return random.pick<JsonValue>([{ value: true, branch: 'then' }, { value: false, branch: 'else' }, 7, null]);
}
