import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Evaluates a CEL expression, and takes one of two branches or stops the run.',
  result: '{value, branch}: whether the expression is true, and the branch that was taken.',
  facts: [
    'Steps in neither branch that depend on the condition, or in both, run in both cases.',
    'A branch decides which connections are taken: a step runs if one of those into it is, so branches may meet again.',
    'has(input.customer) asks whether a field is there. Reading a field that is missing fails the step.',
    'With the mode validate a false expression fails the step with your message.',
  ],
  example: {
    steps: [
      { id: 'example', type: 'condition', expression: 'input.amount > 100 && has(input.customer)', then: ['review'] },
      { id: 'review', type: 'human_task', instructions: 'Is {{input.amount}} all right?', depends_on: ['example'] },
    ],
  },
  run: { input: { amount: 50, customer: 'Ada' }, result: { value: false, branch: 'else' } },
  words: ['if', 'else', 'branch', 'switch', 'filter', 'router'],
  next: ['human_task', 'http_request', 'lua_script'],
};
