import { isDeepStrictEqual } from 'node:util';
import {
  type About,
  all,
  answerText,
  call,
  change,
  checkOutputs,
  checkWorkflow,
  type Goal,
  lua,
  publish,
  sameWorkflow,
  setOutput,
  stepsOf,
  type World,
} from '../goal.ts';

const given =
  (name: string, graph: object) =>
  async ({ act }: World): Promise<About> => ({ workflow_id: await publish(act, name, graph) });

const chain = given('Greeting', {
  steps: [
    lua('a', 'return "Hello"'),
    lua('b', 'return {{steps.a.result}} .. "!"', 'a'),
    lua('c', 'return {{steps.b.result}} .. "?"', 'b'),
  ],
  output: { text: '{{steps.c.result}}' },
});
const approval = given('Approval', {
  steps: [
    { id: 'large', type: 'condition', expression: 'input.amount > 100', then: ['ask'], else: ['pay'] },
    { id: 'ask', type: 'human_task', depends_on: ['large'] },
    lua('pay', 'return "paid"', 'large'),
  ],
  output: { paid: '{{steps.pay.result}}' },
});

/** Changes of an existing workflow. */
export const CHANGES: readonly Goal[] = [
  {
    name: 'rename',
    words: 'Rename the step "a" to "greet", and change nothing else. What the workflow returns must stay the same.',
    prepare: chain,
    check: all(
      sameWorkflow,
      checkWorkflow(workflow => stepsOf(workflow) !== 'greet, b, c' && `the steps are ${stepsOf(workflow)}`),
      checkOutputs([{}, { text: 'Hello!?' }]),
    ),
    solution: change('Rename a', { type: 'rename_step', step: 'a', to: 'greet' }),
  },
  {
    name: 'threshold',
    words: 'From now on, amounts up to 250 are paid without asking anybody. Change nothing else.',
    prepare: approval,
    check: all(
      sameWorkflow,
      checkWorkflow(workflow => stepsOf(workflow) !== 'large, ask, pay' && `the steps are ${stepsOf(workflow)}`),
      checkOutputs([{ amount: 250 }, { paid: 'paid' }]),
      checkWorkflow(({ graph: { steps } }) => {
        const [large, ask, pay] = steps;
        const isKept = isDeepStrictEqual([large?.then, large?.else], [['ask'], ['pay']]) && ask !== undefined;
        return (
          (!isKept || !/251|> ?250/.test(String(large?.expression)) || pay?.script !== 'return "paid"') &&
          'more was changed'
        );
      }),
    ),
    solution: change('250', { type: 'update_step', step: 'large', set: { expression: 'input.amount > 250' } }),
  },
  {
    name: 'insert',
    words:
      'Insert a step "upper" between "a" and "b": it returns what "a" returned in capitals, and "b" uses that instead.',
    prepare: chain,
    check: all(
      sameWorkflow,
      checkOutputs([{}, { text: 'HELLO!?' }]),
      checkWorkflow(({ graph: { steps } }) => {
        const needs = (id: string) => steps.find(step => step.id === id)?.depends_on.join();
        return (needs('upper') !== 'a' || needs('b') !== 'upper') && 'the steps are connected in another way';
      }),
    ),
    solution: change(
      'Capitals',
      {
        type: 'insert_between',
        from: 'a',
        to: 'b',
        step: { id: 'upper', type: 'lua_script', script: 'return string.upper(steps.a.result)' },
      },
      { type: 'update_step', step: 'b', set: { script: 'return {{steps.upper.result}} .. "!"' } },
    ),
  },
  {
    name: 'remove',
    words: 'Remove the step "b", so that "c" comes directly after "a" and uses what "a" returns.',
    prepare: chain,
    check: all(
      sameWorkflow,
      checkWorkflow(workflow => stepsOf(workflow) !== 'a, c' && `the steps are ${stepsOf(workflow)}`),
      checkOutputs([{}, { text: 'Hello?' }]),
    ),
    solution: change(
      'Remove b',
      { type: 'update_step', step: 'c', set: { script: 'return {{steps.a.result}} .. "?"' } },
      { type: 'remove_step', step: 'b', heal: true },
    ),
  },
  {
    name: 'output',
    words: 'Let the output also have "first", what the step "a" returned. Keep what is there.',
    prepare: chain,
    check: all(sameWorkflow, checkOutputs([{}, { text: 'Hello!?', first: 'Hello' }])),
    solution: change('First', setOutput({ text: '{{steps.c.result}}', first: '{{steps.a.result}}' })),
  },
  {
    name: 'title',
    words: 'Name this workflow "Welcome", and describe it as "Says hello to new customers".',
    prepare: chain,
    check: all(
      sameWorkflow,
      checkWorkflow(
        ({ name, description }) =>
          (name !== 'Welcome' || description !== 'Says hello to new customers') &&
          `it is ${name}: ${String(description)}`,
      ),
    ),
    solution: change('Welcome', {
      type: 'set_details',
      name: 'Welcome',
      description: 'Says hello to new customers',
    }),
  },
  {
    name: 'searchable',
    words: 'Make runs of this workflow searchable by the "amount" of their input, as the field "amount".',
    prepare: approval,
    check: all(
      sameWorkflow,
      checkWorkflow(
        ({ graph }) =>
          !isDeepStrictEqual(graph.searchable, { amount: '{{input.amount}}' }) && 'runs cannot be searched so',
      ),
    ),
    solution: change('Search', { type: 'update_graph', set: { searchable: { amount: '{{input.amount}}' } } }),
  },
  {
    name: 'failure-handler',
    words: 'When a run of this workflow fails, the workflow "Tell the team" of this project has to be started.',
    async prepare(world) {
      await publish(world.act, 'Tell the team', { steps: [lua('tell', 'return 1')] });
      return chain(world);
    },
    check: all(sameWorkflow, async ({ act }, { workflowId }) => {
      const { graph } = (await act('workflows_get', { id: workflowId })) as {
        graph: { on_failure?: { workflow_id: string } };
      };
      const { name } = graph.on_failure
        ? ((await act('workflows_get', { id: graph.on_failure.workflow_id })) as { name: string })
        : { name: 'nothing' };
      return name === 'Tell the team' ? [] : [`a failure starts ${name}`];
    }),
    solution: [
      call('workflows_list', { q: 'Tell the team' }),
      call('autopilot_propose', {
        workflow_id: '{about}',
        title: 'Tell the team',
        edits: [{ type: 'update_graph', set: { on_failure: { workflow_id: '{{last.workflows.0.id}}' } } }],
      }),
      answerText('I propose it.'),
    ],
  },
  {
    name: 'default-input',
    words:
      'Runs of this workflow have an amount of 20 unless they say otherwise: save {"amount": 20} as its default input.',
    prepare: approval,
    check: all(
      sameWorkflow,
      checkWorkflow(
        ({ run_setup }) =>
          !isDeepStrictEqual((run_setup as { trigger_payload?: object } | null)?.trigger_payload, { amount: 20 }) &&
          'the default input is another one',
      ),
    ),
    solution: change('Default', {
      type: 'set_run_setup',
      run_setup: { trigger_payload: { amount: 20 }, use_as_default: true },
    }),
  },
];
