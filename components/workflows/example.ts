import type { Inputs } from '../trpc/provider.tsx';

export type Graph = NonNullable<Inputs['workflows_create']['graph']>;

/** A small complete workflow: it computes, decides, asks a person if necessary, and finishes either way. */
export const exampleGraph: Graph = {
  steps: [
    {
      id: 'order',
      type: 'lua_script',
      name: 'Read the order',
      script: 'return {\n  customer = input.customer or "Ada",\n  amount = input.amount or 250\n}',
    },
    {
      id: 'is_large',
      type: 'condition',
      name: 'Over 100?',
      expression: 'steps.order.result.amount > 100',
      then: ['review'],
      else: [],
      depends_on: ['order'],
    },
    {
      id: 'review',
      type: 'human_task',
      name: 'Review the order',
      instructions:
        '**{{steps.order.result.customer}}** orders for **{{steps.order.result.amount}}**. Is that all right?',
      form: { type: 'object', properties: { comment: { type: 'string', title: 'Comment' } } },
      depends_on: ['is_large'],
    },
    {
      id: 'book',
      type: 'lua_script',
      name: 'Book the order',
      script:
        'local review = steps.review and steps.review.result\nif review and not review.approved then\n  return { booked = false }\nend\nreturn { booked = true, amount = steps.order.result.amount }',
      depends_on: ['order', 'is_large', 'review'],
    },
  ],
};
