import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ScriptInput } from '../../bin/fake-model/script.ts';

/** Calls operations of the service as a person with every right in the project. */
export type Act = (name: string, input: object) => Promise<unknown>;
/** The environment of the goals. In prompts and solutions, `{api}` and `{model}` stand for these values. */
export type World = {
  act: Act;
  /** The base URL of an HTTP server: `GET /stock` returns `{"stock": 7}`, `POST /orders` accepts an order. */
  api: string;
  /** The model that steps of a workflow may ask. */
  model: string;
  /** The bodies that were posted to `/orders`. */
  orders: unknown[];
  /** The arguments of the calls of the tool `send_note`. */
  notes: unknown[];
};
/** The workflow, and possibly the run, that a message is about. */
export type About = { workflow_id: string; run_id?: string };
/** The outcome of Autopilot's work on a goal. */
export type Outcome = {
  /** The workflow of Autopilot's proposal, applied and published; null without a proposal. */
  workflowId: string | null;
  answer: string;
  /** Whether Autopilot asks with a form. */
  asks: boolean;
  about: About | null;
};
/** Returns the faults of the outcome; empty if it is right. Autopilot does not know the check. */
export type Check = (world: World, outcome: Outcome) => Promise<string[]>;
export type Answer = NonNullable<ScriptInput['answers']>[number];
export type Content = Extract<Answer, { content: unknown }>['content'];

export type Goal = {
  name: string;
  words: string;
  /** Creates the workflow or run that the goal is about. */
  prepare?(world: World): Promise<About>;
  check: Check;
  /** Scripted answers, turn by turn, that reach the goal: they show that the goal can be reached and that the check is right. */
  solution: readonly Content[];
  /**
   * Scripted answers that do not reach the goal, which the check must detect. Default: an answer that claims to be
   * done.
   */
  wrong?: readonly Content[];
  /** The script's answers to steps of the workflow that ask a model, by a part of their prompt. */
  asked?: Readonly<Record<string, string>>;
};

// Building blocks of goals.

export const call = (name: string, args: Record<string, unknown>): Content => [
  { calls: [{ name, arguments: args as never }] },
];
export const answerText = (text: string): Content => [{ text }];
/** Returns a proposal with these edits, and the text that announces it. */
export const propose = (title: string, ...edits: object[]): Content[] => [
  call('autopilot_propose', { title, edits }),
  answerText(`I propose: ${title}.`),
];
/** Returns the same for the workflow that the message is about. */
export const change = (title: string, ...edits: object[]): Content[] => [
  call('autopilot_propose', { workflow_id: '{{last.workflow_id}}', title, edits }),
  answerText(`I propose: ${title}.`),
];
export const lua = (id: string, script: string, ...depends_on: string[]) => ({
  id,
  type: 'lua_script',
  script,
  ...(depends_on.length > 0 && { depends_on }),
});
export const add = (step: object) => ({ type: 'add_step', step });
export const setName = (name: string) => ({ type: 'set_details', name });
export const setOutput = (output: unknown, more: object = {}) => ({ type: 'update_graph', set: { output, ...more } });
export const connect = (from: string, to: string, branch?: 'then' | 'else') => ({
  type: 'connect',
  from,
  to,
  ...(branch && { branch }),
});
export const requires = (fields: Record<string, string>) => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, { type }])),
  required: Object.keys(fields),
});

// Checks of outcomes.

const Made = z.object({ id: z.string() });
const Ran = z.object({ run_id: z.string(), status: z.string().optional(), output: z.unknown().optional() });
const Step = z.looseObject({ id: z.string(), type: z.string(), depends_on: z.array(z.string()).default([]) });
const Workflow = z.looseObject({
  name: z.string(),
  status: z.string(),
  graph: z.looseObject({ steps: z.array(Step) }),
});
export type WorkflowRead = z.output<typeof Workflow>;
const WAIT_S = 30;

export async function publish(act: Act, name: string, graph: object, description = ''): Promise<string> {
  const { id } = Made.parse(await act('workflows_create', { name, description, graph }));
  await act('workflows_publish_version', { id });
  return id;
}

/** Runs the workflow until it ends, for at most half a minute. */
export async function run(act: Act, id: string, input: object): Promise<z.output<typeof Ran>> {
  return Ran.parse(await act('workflows_run', { id, wait_s: WAIT_S, params: { trigger_payload: input } }));
}

export const readWorkflow = async (act: Act, id: string): Promise<WorkflowRead> =>
  Workflow.parse(await act('workflows_get', { id }));

export const all =
  (...checks: Check[]): Check =>
  async (world, outcome) => {
    if (outcome.workflowId === null) return ['nothing was proposed'];
    const problems: string[] = [];
    for (const check of checks) problems.push(...(await check(world, outcome)));
    return problems;
  };

/** Checks that each input gives its output. */
export const checkOutputs = (...cases: readonly (readonly [input: object, output: unknown])[]): Check =>
  all(async ({ act }, { workflowId }) => {
    const problems: string[] = [];
    for (const [input, expected] of cases) {
      const { status, output } = await run(act, String(workflowId), input);
      if (status === 'completed' && isDeepStrictEqual(output, expected)) continue;
      problems.push(`for ${JSON.stringify(input)} it is ${status} with ${JSON.stringify(output)}`);
    }
    return problems;
  });

/** Checks the workflow with `look`, which returns the fault, or false. */
export const checkWorkflow = (look: (workflow: WorkflowRead) => string | false): Check =>
  all(async ({ act }, { workflowId }) => {
    const problem = look(await readWorkflow(act, String(workflowId)));
    return problem === false ? [] : [problem];
  });

/** Checks that Autopilot has changed the workflow in question, and created no other. */
export const sameWorkflow: Check = async (_world, { workflowId, about }) =>
  workflowId === about?.workflow_id ? [] : ['the workflow was not changed'];

/** Checks that Autopilot has proposed nothing, and that its answer matches these patterns. */
export const onlySays =
  (...words: readonly RegExp[]): Check =>
  async (_world, { workflowId, answer }) => [
    ...(workflowId === null ? [] : ['a change was proposed that nobody asked for']),
    ...words.flatMap(word => (word.test(answer) ? [] : [`the answer lacks ${word}`])),
  ];

export const stepsOf = ({ graph: { steps } }: WorkflowRead): string => steps.map(({ id }) => id).join(', ');
export const ofType = ({ graph: { steps } }: WorkflowRead, type: string) => steps.filter(step => step.type === type);
