import type { StepHelp } from '../../ports/step-declarations.ts';

export const help: StepHelp = {
  what: 'Calls a tool of an MCP server, with the credentials of the chosen instance.',
  result: 'What the tool returns: its structured content, JSON or a list of content.',
  facts: [
    'A template alone in an argument keeps its type: "{{input.amount}}" stays a number.',
    'Every attempt sends the same idempotency key, so that a server can recognize a repetition.',
    'If Baton stops during the call, the call is made again. With on_lost: ask, a person decides.',
    'An error of the tool fails the attempt with tool_failed.',
  ],
  example: {
    steps: [
      {
        id: 'example',
        type: 'mcp_call',
        instance_id: '01890000-0000-7000-8000-000000000000',
        tool_name: 'lookup_exchange_rate',
        tool_args: { from: 'USD', to: 'EUR', amount: '{{input.amount}}' },
        retry_count: 2,
      },
    ],
  },
  words: ['tool', 'integration', 'app', 'connector'],
  next: ['condition', 'lua_script', 'for_each'],
};
