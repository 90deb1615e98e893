import { describe, expect, test } from 'vitest';
import type { GraphStep, JsonMap } from '../../core/index.ts';
import type { Attempt, Outcome } from '../../ports/step-type.ts';
import { mcpCall } from './mcp-call.ts';
import type { ToolAnswer, ToolCall, ToolCaller } from './tool-caller.ts';

const step = (more: JsonMap = {}): GraphStep =>
  ({ id: 'call', type: 'mcp_call', instance_id: 'i-1', tool_name: 'add', ...more }) as GraphStep;

function attempt(of: GraphStep, input: JsonMap = {}, more: Partial<Attempt> = {}): Attempt {
  const run = { id: 'r-1', workflowId: 'w', version: 1, tenantId: 't', projectId: 'p' };
  const result = () => null;
  return {
    run,
    step: of,
    attempt: 1,
    now: 0,
    input,
    result,
    ancestors: () => new Set(),
    log: () => undefined,
    ...more,
  };
}

/** A fake implementation of the port: returns `answer` and records the calls. */
function caller(answer: ToolAnswer): ToolCaller & { calls: ToolCall[]; checked: unknown[] } {
  const calls: ToolCall[] = [];
  const checked: unknown[] = [];
  return {
    calls,
    checked,
    async check(scope, call) {
      checked.push({ scope, call });
      return [{ path: 'tool_name', code: 'unknown_tool', message: 'no' }];
    },
    async call(call, { log }) {
      calls.push(call);
      log(['1/2']);
      return answer;
    },
  };
}

const run = async (answer: ToolAnswer, of: GraphStep, input: JsonMap = {}, more: Partial<Attempt> = {}) => {
  const tools = caller(answer);
  const outcome = await mcpCall(tools).execute(attempt(of, input, more), new AbortController().signal);
  return { outcome, calls: tools.calls };
};
const done: ToolAnswer = { kind: 'result', result: { sum: 3 } };
const oneCall = [{ action: 'tool_call' as const, quantity: 1 }];

describe('mcp_call', () => {
  test('renders everything, and calls with key, trace and log', async () => {
    const lines: string[] = [];
    const templated = step({
      tool_name: 'a{{input.x}}',
      instance_id: '{{input.i}}',
      tool_args: { n: '{{input.x}}', deep: [{ s: '<{{input.x}}>' }] },
    });
    const more = { traceparent: '00-trace', log: (said: string[]) => void lines.push(...said) };
    const { outcome, calls } = await run(done, templated, { x: 1, i: 'i-2' }, more);
    expect(outcome).toEqual({ kind: 'completed', result: { sum: 3 }, consumed: oneCall } satisfies Outcome);
    expect(calls).toEqual([
      {
        tenantId: 't',
        projectId: 'p',
        instanceId: 'i-2',
        toolName: 'a1',
        args: { n: 1, deep: [{ s: '<1>' }] },
        idempotencyKey: 'r-1:call',
        traceparent: '00-trace',
      },
    ]);
    expect(lines).toEqual(['1/2']);
  });

  test('passes on the reason of a failure and the time of a retry; a call that was never sent costs nothing', async () => {
    const failed = { kind: 'failed', code: 'mcp_rate_limited', message: 'later', retryable: true } as const;
    expect((await run({ ...failed, retryAfterMs: 5_000 }, step())).outcome).toEqual({
      kind: 'failed',
      error: { code: 'mcp_rate_limited', message: 'later' },
      retryable: true,
      retryAfterMs: 5_000,
      consumed: oneCall,
    });
    expect((await run({ ...failed, unsent: true }, step())).outcome).not.toHaveProperty('consumed');
  });

  test('fails without a call if a template does not resolve', async () => {
    const { outcome, calls } = await run(done, step({ tool_args: { a: '{{input.missing}}' } }));
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'template_unresolved' }, retryable: false });
    expect(calls).toEqual([]);
  });

  test('is checked if instance and tool are known and the fields are valid', async () => {
    const tools = caller(done);
    const type = mcpCall(tools);
    const scope = { tenantId: 't', projectId: 'p' };
    expect(await type.check(step({ tool_args: { a: 1 }, name: 'x' }), scope)).toHaveLength(1);
    expect(tools.checked).toEqual([{ scope, call: { instanceId: 'i-1', toolName: 'add', args: { a: 1 } } }]);
    const unknown: JsonMap[] = [
      { tool_name: '{{input.t}}' },
      { instance_id: '{{input.i}}' },
      { tool_name: 3 },
      { tool_args: 3 },
    ];
    for (const more of unknown) {
      expect(await type.check(step(more), scope)).toEqual([]);
    }
  });

  test('cannot be published without a tool caller', async () => {
    const type = mcpCall(undefined);
    expect(type.available).toMatchObject({ message: expect.stringContaining('mcp_call') });
    expect(await type.check(step(), { tenantId: 't', projectId: 'p' })).toEqual([]);
    const outcome = await type.execute(attempt(step()), new AbortController().signal);
    expect(outcome).toMatchObject({ error: { code: 'step_type_unavailable' } });
  });
});
