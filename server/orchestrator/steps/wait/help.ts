import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Pauses one path of the workflow for some seconds, or until a point in time.',
  result: '{waited_until}: the instant at which it ended.',
  facts: [
    'At most 366 days. A time in the past ends the step immediately.',
    'until needs Z or an offset: 2027-01-31T09:00:00+01:00.',
    'A waiting step takes no slot, and survives restarts.',
  ],
  example: { steps: [{ id: 'example', type: 'wait', until: '{{input.due_at}}' }] },
  words: ['delay', 'sleep', 'timer', 'pause'],
  next: ['http_request', 'condition'],
};
