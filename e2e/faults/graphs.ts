import type { Graph, JsonValue } from '../../server/orchestrator/core/index.ts';

/** A script that takes about 1 ms, long enough for a fault to hit some executions. */
const lua = (expression: string) => `local x = 0; for i = 1, 20000 do x = x + i % 7 end; return ${expression}`;
const step = (id: string, type: string, depends_on: string[], more: Record<string, JsonValue>) => ({
  id,
  type,
  depends_on,
  ...more,
});
const script = (id: string, depends_on: string[], expression: string, more: Record<string, JsonValue> = {}) =>
  step(id, 'lua_script', depends_on, { script: lua(expression), ...more });

const parts = [1, 2, 3, 4, 5, 6];

/** Inputs are `{n}` with 0 ≤ n < INPUTS, so each kind of run has one ending, which is known from an undisturbed run. */
export const INPUTS = 6;

/** Together the graphs have branches, joins, fan-out, loops, people, retries, failures, values passed on and values stored externally. */
export const graphs: Readonly<Record<string, Graph>> = {
  chain: {
    steps: [
      script('double', [], '{ n = input.n * 2 }'),
      step('large', 'condition', ['double'], {
        expression: 'steps.double.result.n > 5',
        then: ['up'],
        else: ['down'],
      }),
      script('up', ['large'], '"up " .. steps.double.result.n'),
      script('down', ['large'], '"down " .. steps.double.result.n'),
      script('join', ['up', 'down'], 'input.n + 1'),
    ],
  },
  fanOut: {
    steps: [
      ...parts.map(n => script(`part${n}`, [], `input.n * ${n}`)),
      script(
        'sum',
        parts.map(n => `part${n}`),
        'steps.part1.result + steps.part6.result',
      ),
      step('check', 'condition', ['sum'], {
        expression: 'input.n != 3',
        mode: 'validate',
        message: 'the sum of {{input.n}} is {{steps.sum.result}}',
      }),
      script('after', ['check'], 'true'),
    ],
  },
  approval: {
    steps: [
      script('prepare', [], '{ title = "Order " .. input.n }'),
      step('approve', 'human_task', ['prepare'], { instructions: '{{steps.prepare.result.title}}' }),
      step('approved', 'condition', ['approve'], {
        expression: 'steps.approve.result.approved',
        then: ['ship'],
        else: ['refund'],
      }),
      script('ship', ['approved'], '"shipped " .. input.n'),
      script('refund', ['approved'], '"refunded " .. input.n'),
    ],
  },
  retries: {
    steps: [
      step('flaky', 'lua_script', [], {
        script: 'if input.n == 1 then error("no luck") end return input.n',
        retry_count: 2,
        retry_delay_s: 0.2,
      }),
      script('after', ['flaky'], 'steps.flaky.result'),
    ],
  },
  loop: {
    steps: [
      script('list', [], '{ 1, 2, 3, 4, 5, 6 }'),
      step('each', 'for_each', ['list'], {
        items: '{{steps.list.result}}',
        concurrency: 3,
        on_item_error: 'continue',
        steps: [
          script('times', [], 'item * input.n'),
          // One item fails, and the result of another one is stored externally.
          script(
            'check',
            ['times'],
            'item == 4 and error("four") or string.rep("x" .. steps.times.result, item == 5 and 10000 or 1)',
          ),
        ],
      }),
      script('failed', ['each'], 'steps.each.result.failed'),
    ],
  },
  large: {
    steps: [script('big', [], 'string.rep("x" .. input.n, 15000)'), script('size', ['big'], '#steps.big.result')],
  },
};

/** Returns whether people approve the task of a run with this input. */
export const approves = (n: number): boolean => n % 2 === 0;
