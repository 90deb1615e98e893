import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Runs another workflow of the project, waits for the end of that run and takes its output.',
  result: 'The output of the called run; with detach only {run_id}, as soon as that run has started.',
  facts: [
    'It takes the latest version when the step starts, unless version names one.',
    'Stopping the run stops the runs that it waits for. A retry starts another run.',
    'At most 8 calls lead to a run, so that a workflow that calls itself ends.',
  ],
  example: {
    steps: [
      {
        id: 'example',
        type: 'call_workflow',
        workflow_id: '01890000-0000-7000-8000-000000000000',
        input: { order: '{{input.order}}' },
        timeout_s: 3600,
      },
    ],
  },
  words: ['sub-workflow', 'subflow', 'child'],
  next: ['condition', 'lua_script'],
};
