import {
  add,
  all,
  answerText,
  call,
  checkOutputs,
  checkWorkflow,
  type Goal,
  lua,
  propose,
  requires,
  run,
  setName,
  setOutput,
} from '../goal.ts';

const workflow = (name: string, output: unknown, ...steps: object[]) =>
  propose(name, setName(name), ...steps.map(add), setOutput(output));

/** Workflows that compute. */
export const COMPUTING: readonly Goal[] = [
  {
    name: 'total',
    words:
      'Build a workflow named "Total". Its input has a list "prices" of numbers. Its output is an object with one field, "total": their sum, which is 0 for an empty list.',
    check: checkOutputs([{ prices: [1, 2.5, 4] }, { total: 7.5 }], [{ prices: [] }, { total: 0 }]),
    solution: [
      call('autopilot_describe_step_types', { type: 'lua_script' }),
      call('autopilot_propose', {
        title: 'Total',
        edits: [
          setName('Total'),
          add(lua('sum', 'local sum = 0\nfor _, price in ipairs(input.prices) do sum = sum + price end\nreturn sum')),
          setOutput({ total: '{{steps.sum.result}}' }, { input_schema: requires({ prices: 'array' }) }),
        ],
      }),
      call('autopilot_try_proposal', {
        id: '{{last.id}}',
        input: { prices: [1, 2] },
        checks: [{ step: 'sum', op: 'equals', value: 3 }],
      }),
      call('autopilot_get_trial', { id: '{{last.proposal_id}}', wait_s: 30 }),
      answerText('I propose a workflow that adds the prices up. The trial has proven it.'),
    ],
  },
  {
    name: 'greeting',
    words:
      'Build a workflow named "Greeting". Its input may have a text "name". Its output is {"text": "Hello NAME"}, and "Hello you" without a name.',
    check: checkOutputs([{ name: 'Ann' }, { text: 'Hello Ann' }], [{}, { text: 'Hello you' }]),
    solution: workflow(
      'Greeting',
      { text: '{{steps.greet.result}}' },
      lua('greet', 'return "Hello " .. (input.name or "you")'),
    ),
  },
  {
    name: 'average',
    words:
      'Build a workflow named "Average". Its input has a list "values" of numbers. Its output is {"average": their arithmetic mean}; for an empty list the average is 0.',
    check: checkOutputs([{ values: [1, 2, 6] }, { average: 3 }], [{ values: [] }, { average: 0 }]),
    solution: workflow(
      'Average',
      { average: '{{steps.mean.result}}' },
      lua(
        'mean',
        'local sum = 0\nfor _, value in ipairs(input.values) do sum = sum + value end\nreturn #input.values == 0 and 0 or sum / #input.values',
      ),
    ),
  },
  {
    name: 'words',
    words:
      'Build a workflow named "Words". Its input has a text "text". Its output is {"words": how many words the text has}; words are separated by blanks.',
    check: checkOutputs([{ text: 'one two  three' }, { words: 3 }], [{ text: '' }, { words: 0 }]),
    solution: workflow(
      'Words',
      { words: '{{steps.count.result}}' },
      lua('count', 'local n = 0\nfor _ in string.gmatch(input.text, "%S+") do n = n + 1 end\nreturn n'),
    ),
  },
  {
    name: 'largest',
    words:
      'Build a workflow named "Largest". Its input has a list "orders" of objects with a text "customer" and a number "amount". Its output is {"customer": who has the order with the largest amount}.',
    check: checkOutputs([
      {
        orders: [
          { customer: 'Ann', amount: 3 },
          { customer: 'Bob', amount: 8 },
          { customer: 'Eve', amount: 5 },
        ],
      },
      { customer: 'Bob' },
    ]),
    solution: workflow(
      'Largest',
      { customer: '{{steps.pick.result}}' },
      lua(
        'pick',
        'local best = input.orders[1]\nfor _, order in ipairs(input.orders) do if order.amount > best.amount then best = order end end\nreturn best.customer',
      ),
    ),
  },
  {
    name: 'per-customer',
    words:
      'Build a workflow named "Per customer". Its input has a list "orders" of objects with a text "customer" and a number "amount". Its output is {"totals": an object with the sum of the amounts for each customer}.',
    check: checkOutputs([
      {
        orders: [
          { customer: 'Ann', amount: 3 },
          { customer: 'Bob', amount: 8 },
          { customer: 'Ann', amount: 4 },
        ],
      },
      { totals: { Ann: 7, Bob: 8 } },
    ]),
    solution: workflow(
      'Per customer',
      { totals: '{{steps.group.result}}' },
      lua(
        'group',
        'local totals = {}\nfor _, order in ipairs(input.orders) do totals[order.customer] = (totals[order.customer] or 0) + order.amount end\nreturn totals',
      ),
    ),
  },
  {
    name: 'distinct',
    words:
      'Build a workflow named "Distinct". Its input has a list "tags" of texts. Its output is {"tags": the same list without repetitions, in the order in which they first occur}.',
    check: checkOutputs([{ tags: ['b', 'a', 'b', 'c', 'a'] }, { tags: ['b', 'a', 'c'] }]),
    solution: workflow(
      'Distinct',
      { tags: '{{steps.distinct.result}}' },
      lua(
        'distinct',
        'local seen, tags = {}, {}\nfor _, tag in ipairs(input.tags) do if not seen[tag] then seen[tag] = true tags[#tags + 1] = tag end end\nreturn tags',
      ),
    ),
  },
  {
    name: 'two-steps',
    words:
      'Build a workflow named "Invoice" with exactly two steps. "net" returns price times quantity, both of which are in the input. "gross" returns what "net" returned plus 20 %. The output is {"net": …, "gross": …}.',
    check: all(
      checkOutputs([
        { price: 10, quantity: 3 },
        { net: 30, gross: 36 },
      ]),
      checkWorkflow(({ graph: { steps } }) => {
        const gross = steps.find(({ id }) => id === 'gross');
        return (
          (steps.length !== 2 || !gross?.depends_on.includes('net')) && 'there are not two steps, one after the other'
        );
      }),
    ),
    solution: workflow(
      'Invoice',
      { net: '{{steps.net.result}}', gross: '{{steps.gross.result}}' },
      lua('net', 'return input.price * input.quantity'),
      lua('gross', 'return steps.net.result * 1.2', 'net'),
    ),
  },
  {
    name: 'side-by-side',
    words:
      'Build a workflow named "Side by side". A step "double" returns twice the number "n" of the input, a step "square" its square. Neither waits for the other. A step "both" adds their results up when both have ended. The output is {"sum": …}.',
    check: all(
      checkOutputs([{ n: 3 }, { sum: 15 }]),
      checkWorkflow(({ graph: { steps } }) => {
        const needs = (id: string) =>
          steps
            .find(step => step.id === id)
            ?.depends_on.toSorted()
            .join();
        const isSo = needs('double') === '' && needs('square') === '' && needs('both') === 'double,square';
        return !isSo && 'the steps depend on each other in another way';
      }),
    ),
    solution: workflow(
      'Side by side',
      { sum: '{{steps.both.result}}' },
      lua('double', 'return input.n * 2'),
      lua('square', 'return input.n * input.n'),
      lua('both', 'return steps.double.result + steps.square.result', 'double', 'square'),
    ),
  },
  {
    name: 'demands-input',
    words:
      'Build a workflow named "Sign up" that can only be started with a text "email" in its input. Its output is {"email": that text in lower case}.',
    check: all(
      checkOutputs([{ email: 'Ann@Example.com' }, { email: 'ann@example.com' }]),
      async ({ act }, { workflowId }) => {
        const started = await run(act, String(workflowId), {}).catch(() => null);
        return started === null ? [] : ['it starts without an address'];
      },
    ),
    solution: propose(
      'Sign up',
      setName('Sign up'),
      add(lua('lower', 'return string.lower(input.email)')),
      setOutput({ email: '{{steps.lower.result}}' }, { input_schema: requires({ email: 'string' }) }),
    ),
  },
];
