import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Calls an HTTP API. Credentials come from a connection and go to its origins only.',
  result: '{status, headers, body}, with JSON parsed; with pagination the items of all pages.',
  facts: [
    'Every status but 2xx fails the step, unless expect names it.',
    'Only 408, 421, 425, 429, most of 5xx and failures of the network are retried, as often as retry_count says (default 0).',
    'A template in the URL is percent-encoded, except at its very beginning. A response has at most 1 MiB.',
    'If the answer to a POST cannot be read, the step has a result: body is null, and unread says why.',
    'response: json, text or bytes reads the body in that way, whatever its content type says. Bytes are base64.',
    'If Baton stops during a POST or PATCH, the request is sent again. With on_lost: ask, a person decides.',
  ],
  example: {
    steps: [
      {
        id: 'example',
        type: 'http_request',
        method: 'POST',
        url: 'https://api.example.com/customers/{{input.customer}}/orders',
        body: { amount: '{{input.amount}}' },
        expect: [201],
        retry_count: 3,
      },
    ],
  },
  words: ['api', 'rest', 'fetch', 'curl', 'get', 'post', 'webhook'],
  next: ['condition', 'lua_script', 'for_each'],
};
