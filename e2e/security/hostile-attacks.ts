import type { Graph, JsonMap } from '../../server/orchestrator/core/index.ts';

/** Runs of a tenant that could affect other tenants, started through the API. Add new attacks here. */
export type Attack = {
  readonly name: string;
  readonly graph: Graph;
  /** The parameters of each start, including `trigger_steps` and the like. */
  readonly params: JsonMap;
  /** How many runs are started. */
  readonly runs: number;
  /** The status with which a start is refused; default: the start is accepted. */
  readonly refusedWith?: number;
};

const script = (id: string, text: string, more: JsonMap = {}) => ({ id, type: 'lua_script', script: text, ...more });
const fan = (width: number, text: string, more: JsonMap = {}): Graph => ({
  steps: Array.from({ length: width }, (_, index) => script(`s${index}`, text, more)),
});

export const ATTACKS: readonly Attack[] = [
  {
    name: 'scripts that never end',
    graph: fan(300, 'while true do end', { timeout_s: 86_400 }),
    params: {},
    runs: 4,
  },
  {
    name: 'scripts that fill their memory over and over',
    graph: fan(20, 'while true do pcall(string.rep, "x", 1 << 30) end', { timeout_s: 86_400 }),
    params: {},
    runs: 1,
  },
  { name: 'a fan-out of quick steps', graph: fan(1_500, 'return 1'), params: {}, runs: 4 },
  {
    name: 'a storm of retries',
    graph: fan(200, 'error("again")', { retry_count: 10, retry_delay_s: 0 }),
    params: {},
    runs: 2,
  },
  {
    name: 'large inputs',
    graph: { steps: [script('size', 'return #input.text')] },
    params: { text: 'x'.repeat(700_000) },
    runs: 10,
  },
  {
    name: 'large results that many steps read',
    graph: {
      steps: [
        script('big', 'return string.rep("x", 600000)'),
        ...Array.from({ length: 20 }, (_, index) =>
          script(`read${index}`, 'return #steps.big.result', { depends_on: ['big'] }),
        ),
      ],
    },
    params: {},
    runs: 3,
  },
  {
    name: 'a template that repeats a value',
    graph: {
      steps: [
        { id: 'ask', type: 'human_task', instructions: '{{input.text}}'.repeat(500) },
        script('read', `return ${Array.from({ length: 500 }, () => '#{{input.text}}').join(' + ')}`),
      ],
    },
    params: { text: 'x'.repeat(20_000) },
    runs: 5,
  },
  {
    name: 'expressions whose replacements and strings explode',
    graph: {
      steps: [
        'input.text.replace("a", input.text).size() > 0',
        'input.text.replace("", input.text).replace("a", input.text).size() > 0',
        '[input.text, input.text, input.text].map(x, x + x + x + x).map(x, x + x + x + x).size() > 0',
        'input.text.split("").map(x, input.text).join("").size() > 0',
      ].map((expression, n) => ({ id: `e${n}`, type: 'condition', expression, retry_count: 3, retry_delay_s: 0 })),
    },
    params: { text: 'a'.repeat(100_000) },
    runs: 5,
  },
  {
    name: 'overrides that are not numbers',
    graph: { steps: [{ id: 'ask', type: 'human_task' }] },
    params: { trigger_steps: { ask: { timeout_s: 1e308 } } },
    runs: 10,
    refusedWith: 422,
  },
];

/** Many runs of one tenant that end, wake, time out, are answered or are delivered at the same instant. */
export type MassAttack = {
  readonly name: string;
  /** `width`: the number of steps that depend on the first step. */
  graph(width: number): Graph;
  /** Whether its runs wait until `input.until` first. */
  readonly waits?: boolean;
  /** How the runs begin; `fork`: with one start, after which the run calls itself. */
  readonly begin: 'starts' | 'deliveries' | 'fork';
  /** Whether the tenant answers the task `ask` of every run, all at once. */
  readonly approves?: boolean;
};

const until = { id: 'wait', type: 'wait', until: '{{input.until}}' };
const afterWait = { depends_on: ['wait'] };
const skipped = (width: number, dependency: string): Graph['steps'] =>
  Array.from({ length: width }, (_, index) => script(`s${index}`, 'return 1', { depends_on: [dependency] }));

export const MASS_ATTACKS: readonly MassAttack[] = [
  {
    name: 'a time bomb: all runs fail at the same instant, and skip all their steps',
    waits: true,
    begin: 'starts',
    graph: width => ({ steps: [until, script('fail', 'error("now")', afterWait), ...skipped(width, 'fail')] }),
  },
  {
    name: 'mass wake-ups',
    waits: true,
    begin: 'starts',
    graph: () => ({
      steps: [until, script('a', 'return 1', afterWait), script('b', 'return 2', { depends_on: ['a'] })],
    }),
  },
  {
    name: 'mass timeouts',
    waits: true,
    begin: 'starts',
    graph: width => ({
      steps: [
        until,
        { id: 'ask', type: 'human_task', timeout_s: 1, on_timeout: 'fail', ...afterWait },
        ...skipped(width, 'ask'),
      ],
    }),
  },
  {
    name: 'mass approvals',
    begin: 'starts',
    approves: true,
    graph: width => ({
      steps: [
        { id: 'ask', type: 'human_task' },
        script('fail', 'error("now")', { depends_on: ['ask'] }),
        ...skipped(width, 'fail'),
      ],
    }),
  },
  {
    name: 'mass deliveries',
    begin: 'deliveries',
    graph: width => ({ steps: [script('fail', 'error("now")'), ...skipped(width, 'fail')] }),
  },
  {
    name: 'a fork bomb: runs that call themselves without waiting',
    begin: 'fork',
    graph: () => ({
      steps: Array.from({ length: 200 }, (_, index) => ({
        id: `s${index}`,
        type: 'call_workflow',
        detach: true,
        workflow_id: '{{input.self}}',
        input: { self: '{{input.self}}' },
      })),
    }),
  },
];
