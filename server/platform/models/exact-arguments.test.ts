import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ModelServer, startModelServer } from '../../testing/model-server.ts';
import { ManualClock } from '../clock.ts';
import { createRedactor } from '../secrets/redaction.ts';
import type { ToolCallPart, TurnMessage } from './messages.ts';
import { askTurn } from './turn.ts';

let server: ModelServer;
beforeAll(async () => {
  server = await startModelServer();
});
afterAll(() => server.close());

const ARGUMENTS = '{"id":7615917337495251231,"at":[-9223372036854775808,1.5],"text":"9007199254740993"}';

const google = (args: string) =>
  `data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"weather","args":${args}}}]},` +
  `"index":0,"finishReason":"STOP"}]}\n\n`;
const anthropic = (args: string) =>
  [
    `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"weather","input":${args}}}`,
    '{"type":"content_block_stop","index":0}',
    '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1}}',
    '{"type":"message_stop"}',
  ]
    .map(data => `data: ${data}\n\n`)
    .join('');
const anthropicInPieces = (args: string) => {
  const [open, , ...ends] = anthropic('{}').split('\n\n');
  const delta = { type: 'input_json_delta', partial_json: args };
  return [open, `data: ${JSON.stringify({ type: 'content_block_delta', index: 0, delta })}`, ...ends].join('\n\n');
};

test.each([
  { provider: 'google', path: '/v1beta', sent: google },
  { provider: 'anthropic', path: '/v1', sent: anthropic },
  { provider: 'anthropic', path: '/v1', sent: anthropicInPieces },
] as const)(
  'arguments that $provider has as an object keep their digits: $sent.name',
  async ({ provider, path, sent }) => {
    const user: TurnMessage = { role: 'user', content: [{ type: 'text', text: 'Hello' }] };
    const pieces: string[] = [];
    const ask = (messages: TurnMessage[]) =>
      askTurn(
        {
          provider,
          baseUrl: `${server.url}${path}`,
          apiKey: 'k',
          model: 'm',
          messages,
          tools: [{ name: 'weather', description: '', inputSchema: { type: 'object' } }],
          toolChoice: 'auto',
        },
        {
          fetch,
          clock: new ManualClock(),
          signal: new AbortController().signal,
          redactor: createRedactor([]),
          onPiece: piece => void ('text' in piece && pieces.push(piece.text)),
        },
      );
    /** Returns the body of the request in which the call is sent back. */
    const sentBack = async (call: ToolCallPart): Promise<string> => {
      const { id, name } = call;
      const output = { type: 'text' as const, value: 'Rain.' };
      server.reply({ text: 'It rains.' });
      await ask([
        user,
        { role: 'assistant', content: [call] },
        { role: 'tool', content: [{ type: 'tool_result', id, name, output }] },
      ]);
      return server.requests.at(-1)?.text ?? '';
    };

    server.reply({ text: [], raw: sent(ARGUMENTS) });
    const reply = await ask([user]);
    const [call] = reply.kind === 'answer' ? reply.content : [];
    if (call?.type !== 'tool_call') throw new Error('The answer has no call.');
    expect(JSON.stringify(call.arguments)).toBe(ARGUMENTS);
    expect(call).not.toHaveProperty('raw');
    expect(pieces.join('')).toBe(ARGUMENTS);
    expect(await sentBack(call)).toContain(ARGUMENTS);
    // Another provider has written the call as a text, with spaces.
    const other = { arguments: { id: 7615917337495251231n }, raw: '{ "id": 7615917337495251231 }' };
    expect(await sentBack({ type: 'tool_call', id: 'b', name: 'weather', ...other })).toContain(
      '{"id":7615917337495251231}',
    );
  },
);
