import {
  type About,
  all,
  answerText,
  change,
  checkOutputs,
  type Goal,
  lua,
  onlySays,
  publish,
  run,
  sameWorkflow,
  type World,
} from '../goal.ts';

const failing =
  (name: string, graph: object, input: object) =>
  async ({ act }: World): Promise<About> => {
    const id = await publish(act, name, graph);
    const { run_id } = await run(act, id, input);
    return { workflow_id: id, run_id };
  };
const update = (step: string, set: object) => change('A repair', { type: 'update_step', step, set });

/** Runs that have failed. */
export const REPAIRS: readonly Goal[] = [
  {
    name: 'repair',
    words: 'This run has failed. Repair the workflow, so that orders without a discount work too.',
    prepare: failing(
      'Price',
      {
        steps: [
          lua('order', 'return {{input.order}}'),
          lua('price', 'local order = {{steps.order.result}}\nreturn { due = order.price - order.discount }', 'order'),
        ],
        output: '{{steps.price.result}}',
      },
      { order: { price: 10 } },
    ),
    check: all(
      sameWorkflow,
      checkOutputs([{ order: { price: 10 } }, { due: 10 }], [{ order: { price: 10, discount: 3 } }, { due: 7 }]),
    ),
    solution: update('price', {
      script: 'local order = {{steps.order.result}}\nreturn { due = order.price - (order.discount or 0) }',
    }),
  },
  {
    name: 'repair-name',
    words: 'This run has failed because of a slip in a script. Find it and repair it.',
    prepare: failing(
      'Slip',
      {
        steps: [
          lua('read', 'return { total = input.total }'),
          lua('double', 'return steps.read.result.totl * 2', 'read'),
        ],
        output: { double: '{{steps.double.result}}' },
      },
      { total: 4 },
    ),
    check: all(sameWorkflow, checkOutputs([{ total: 4 }, { double: 8 }])),
    solution: update('double', { script: 'return steps.read.result.total * 2' }),
  },
  {
    name: 'repair-expression',
    words: 'This run has failed. Orders without "express" are not express. Repair the workflow.',
    prepare: failing(
      'Express',
      {
        steps: [
          { id: 'fast', type: 'condition', expression: 'input.express', then: ['hurry'] },
          lua('hurry', 'return "hurry"', 'fast'),
        ],
        output: { how: '{{steps.hurry.result}}' },
      },
      {},
    ),
    check: all(
      sameWorkflow,
      checkOutputs([{}, { how: null }], [{ express: true }, { how: 'hurry' }], [{ express: false }, { how: null }]),
    ),
    solution: update('fast', { expression: 'has(input.express) && input.express' }),
  },
  {
    name: 'repair-list',
    words: 'This run has failed. An order without "lines" has no lines, and costs 0. Repair the workflow.',
    prepare: failing(
      'Lines',
      {
        steps: [lua('sum', 'local sum = 0\nfor _, line in ipairs(input.lines) do sum = sum + line end\nreturn sum')],
        output: { sum: '{{steps.sum.result}}' },
      },
      {},
    ),
    check: all(sameWorkflow, checkOutputs([{}, { sum: 0 }], [{ lines: [2, 3] }, { sum: 5 }])),
    solution: update('sum', {
      script: 'local sum = 0\nfor _, line in ipairs(input.lines or {}) do sum = sum + line end\nreturn sum',
    }),
  },
  {
    name: 'explain',
    words: 'Why did this run fail? Only explain it.',
    prepare: failing(
      'Reserve',
      { steps: [lua('stock', 'return 0'), lua('reserve', 'error("no stock left")', 'stock')] },
      {},
    ),
    check: onlySays(/reserve/, /stock/i),
    solution: [answerText('The step reserve failed, because there is no stock left.')],
  },
];
