import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Runs a script in Lua 5.4. Use it to calculate, to reshape data and to decide.',
  result: 'What the script returns.',
  facts: [
    'It reads input, steps.<id>.result and run; json.encode and json.decode convert text, log(...) writes to the log.',
    'base64 and hex encode and decode bytes; os.date takes a time zone as its third argument.',
    'Every attempt starts with a clean state of at most 64 MiB. There is no network and no file system.',
    'An empty table is an object: write json.array(list) where the result must be a list.',
  ],
  example: {
    steps: [
      {
        id: 'example',
        type: 'lua_script',
        script:
          'local total = 0\nfor _, item in ipairs(input.items) do\n  total = total + item.price * item.quantity\nend\nreturn { total = total }',
      },
    ],
  },
  run: { input: { items: [{ price: 2.5, quantity: 4 }] }, result: { total: 10 } },
  words: ['code', 'function', 'transform', 'javascript'],
  next: ['condition', 'http_request', 'for_each'],
};
