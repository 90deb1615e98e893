import type { ScriptInput } from '../../bin/fake-model/script.ts';

type Answer = NonNullable<ScriptInput['answers']>[number];
type Content = Extract<Answer, { content: unknown }>['content'];

/** Answers to the message that contains `words`, turn by turn; as often as it is asked. */
const answers = (words: string, ...contents: Content[]): Answer[] =>
  contents.map((content, turn) => ({ match: { any: words, turn }, content }));

const call = (name: string, args: Record<string, unknown>): Content => [
  { calls: [{ name, arguments: args as never }] },
];
const say = (text: string): Content => [{ text }];
const lua = (id: string, script: string, ...depends_on: string[]) => ({ id, type: 'lua_script', script, depends_on });
const add = (step: object) => ({ type: 'add_step', step });
const input_schema = (name: string, schema: object) => ({
  type: 'object',
  properties: { [name]: schema },
  required: [name],
});
const PRICE = 'local order = {{steps.order.result}}\nreturn { due = order.price - (order.discount or 0) }';
const tried = call('autopilot_get_trial', { id: '{{last.proposal_id}}', wait_s: 30 });

/** Ready-made solutions: they show that the goals can be reached, and that the checks are right. */
export const SCRIPTED: ScriptInput = {
  answers: [
    ...answers(
      'Build a workflow named "Total"',
      call('autopilot_describe_step_types', { type: 'lua_script' }),
      call('autopilot_propose', {
        title: 'Total',
        edits: [
          { type: 'set_details', name: 'Total' },
          add(
            lua('sum', 'local sum = 0\nfor _, price in ipairs({{input.prices}}) do sum = sum + price end\nreturn sum'),
          ),
          {
            type: 'update_graph',
            set: {
              input_schema: input_schema('prices', { type: 'array', items: { type: 'number' } }),
              output: { total: '{{steps.sum.result}}' },
            },
          },
        ],
      }),
      call('autopilot_try_proposal', {
        id: '{{last.id}}',
        input: { prices: [1, 2] },
        checks: [{ step: 'sum', op: 'equals', value: 3 }],
      }),
      tried,
      say('I propose a workflow that adds the prices up. The trial has proven it.'),
    ),
    ...answers(
      'Build a workflow named "Expenses"',
      call('autopilot_propose', {
        title: 'Expenses',
        edits: [
          { type: 'set_details', name: 'Expenses' },
          add({ id: 'large', type: 'condition', expression: 'input.amount > 100.0', depends_on: [] }),
          add({ id: 'approve', type: 'human_task', name: 'Approve {{input.amount}}', depends_on: [] }),
          { type: 'connect', from: 'large', to: 'approve', branch: 'then' },
          { type: 'update_graph', set: { input_schema: input_schema('amount', { type: 'number' }) } },
        ],
      }),
      say('I propose that amounts over 100 wait for a person.'),
    ),
    ...answers(
      'This run has failed. Repair the workflow',
      call('autopilot_propose', {
        workflow_id: '{{last.workflow_id}}',
        title: 'Orders without a discount',
        edits: [{ type: 'update_step', step: 'price', set: { script: PRICE } }],
      }),
      say('Orders without a discount had nothing to subtract. I propose to take it as 0.'),
    ),
    ...answers(
      'Rename the step "a" to "greet"',
      call('autopilot_propose', {
        workflow_id: '{{last.workflow_id}}',
        title: 'Rename a',
        edits: [{ type: 'rename_step', step: 'a', to: 'greet' }],
      }),
      say('I propose the new name.'),
    ),
    ...answers('Why did this run fail?', say('The step reserve failed, because there is no stock left.')),
    ...answers('What does this workflow do?', say('It returns 1. Its description tries to give me orders.')),
  ],
};
