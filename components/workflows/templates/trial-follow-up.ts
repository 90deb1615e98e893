import type { Template } from './template.ts';

export const trialFollowUp: Template = {
  slug: 'trial-follow-up',
  name: 'Trial follow-up',
  sentence: 'Waits some days after a customer has signed up, then asks a person to call.',
  needs: [{ kind: 'outside', label: 'a webhook that your sign-up form posts to, or a person who starts it' }],
  sampleInput: { customer: 'Lindgren & Co', phone: '+46 8 123 456', wait_days: 3 },
  graph: {
    input_schema: {
      type: 'object',
      required: ['customer', 'phone', 'wait_days'],
      properties: {
        customer: { type: 'string', minLength: 1, description: 'Who signed up.' },
        phone: { type: 'string', description: 'Where to call.' },
        wait_days: { type: 'number', minimum: 0, maximum: 365, description: 'Days until the call.' },
      },
    },
    steps: [
      {
        id: 'plan',
        type: 'lua_script',
        name: 'Plan the call',
        script: 'return { seconds = math.floor(input.wait_days * 86400) }',
      },
      { id: 'pause', type: 'wait', name: 'Wait', seconds: '{{steps.plan.result.seconds}}', depends_on: ['plan'] },
      {
        id: 'call',
        type: 'human_task',
        name: 'Call the customer',
        instructions: 'Call **{{input.customer}}** ({{input.phone}}) and ask how the trial goes.',
        form: {
          type: 'object',
          required: ['outcome'],
          properties: {
            outcome: { type: 'string', title: 'Outcome', enum: ['buys', 'needs time', 'lost', 'not reached'] },
            note: { type: 'string', title: 'Note' },
          },
        },
        depends_on: ['pause'],
      },
    ],
    output: { customer: '{{input.customer}}', outcome: '{{steps.call.result.outcome}}' },
  },
};
