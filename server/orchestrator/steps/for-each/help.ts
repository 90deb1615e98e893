import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Runs its steps for each item of a list, several items at a time if you like.',
  result: '{results, failed}: the result of the last step for each item, in order, and how many items failed.',
  facts: [
    'The steps in it read item and index, and depend only on each other.',
    'One item at a time by default, at most 100. A run adds at most 100,000 steps.',
    'With on_item_error continue, a failed item has the result null.',
  ],
  example: {
    steps: [
      {
        id: 'example',
        type: 'for_each',
        items: '{{input.names}}',
        concurrency: 5,
        steps: [{ id: 'greet', type: 'lua_script', script: 'return "Hello, " .. item .. "!"' }],
      },
    ],
  },
  run: { input: { names: ['Ada', 'Grace'] }, result: { results: ['Hello, Ada!', 'Hello, Grace!'], failed: 0 } },
  words: ['loop', 'iterate', 'map', 'batch', 'each item'],
  next: ['lua_script', 'http_request'],
};
