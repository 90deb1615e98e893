import type { Template } from './template.ts';

const order = `local review = steps.approve and steps.approve.result
if review and not review.approved then
  return { ordered = false, decided_by = review.completed_by, comment = review.comment }
end
return { ordered = true, decided_by = review and review.completed_by or "the limit" }`;

export const purchaseApproval: Template = {
  slug: 'purchase-approval',
  name: 'Purchase approval',
  sentence: 'Orders small purchases at once, and asks a person to approve those above 500.',
  needs: [],
  sampleInput: { item: 'Standing desk', amount: 740, reason: 'The old one is broken.' },
  graph: {
    input_schema: {
      type: 'object',
      required: ['item', 'amount', 'reason'],
      properties: {
        item: { type: 'string', minLength: 1, description: 'What is to be bought.' },
        amount: { type: 'number', minimum: 0, description: 'What it costs.' },
        reason: { type: 'string', description: 'What it is for.' },
      },
    },
    steps: [
      {
        id: 'is_large',
        type: 'condition',
        name: 'Above 500?',
        expression: 'input.amount > 500',
        then: ['approve'],
        else: [],
      },
      {
        id: 'approve',
        type: 'human_task',
        name: 'Approve the purchase',
        instructions: '**{{input.item}}** for **{{input.amount}}**\n\n{{input.reason}}',
        form: { type: 'object', properties: { comment: { type: 'string', title: 'Comment' } } },
        depends_on: ['is_large'],
      },
      {
        id: 'order',
        type: 'lua_script',
        name: 'Order, or say why not',
        script: order,
        depends_on: ['is_large', 'approve'],
      },
    ],
    output: '{{steps.order.result}}',
  },
};
