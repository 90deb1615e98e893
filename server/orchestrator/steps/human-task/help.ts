import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Waits until a person approves or rejects it in the inbox, with a form if you add one.',
  result: 'The fields of the form with approved, completed_by and completed_at.',
  facts: [
    'A rejection does not fail the run: a condition can read steps.<id>.result.approved.',
    'Without assignees, every contributor can answer. There is no time limit unless you set one.',
    'A waiting run takes no memory, and survives restarts.',
  ],
  example: {
    steps: [
      {
        id: 'example',
        type: 'human_task',
        instructions: 'Ship the order of **{{input.customer}}**?',
        form: { type: 'object', properties: { comment: { type: 'string', title: 'Comment' } } },
        assignees: ['project_contributor'],
      },
    ],
  },
  words: ['approval', 'form', 'review', 'manual', 'person'],
  next: ['condition', 'http_request', 'mcp_call'],
};
