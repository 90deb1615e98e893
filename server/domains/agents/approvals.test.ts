import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { Principal } from '../../operation/context.ts';
import type { PlannedTool } from '../../orchestrator/steps/agent/plan.ts';
import { newId } from '../../platform/ids.ts';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestTenant, withScopes } from '../../testing/identity.ts';
import { reached } from '../../testing/runs.ts';
import { maxCostOfCall } from './approval-cost.ts';
import { createApprovalSettings } from './approval-settings.ts';

let calls: string[] = [];
function configure(server: McpServer): void {
  const tool = (name: string, annotations: object) =>
    server.registerTool(name, { inputSchema: z.strictObject({}), annotations }, () => {
      calls.push(name);
      return { content: [{ type: 'text', text: 'Done.' }] };
    });
  tool('read', { readOnlyHint: true, openWorldHint: false });
  tool('search', { readOnlyHint: true, openWorldHint: true });
  tool('write', { openWorldHint: false, destructiveHint: false });
  tool('send', { openWorldHint: true, destructiveHint: false });
  tool('drop', { openWorldHint: false, destructiveHint: true });
}

let chat: ChatService;
let instance_id: string;
const callOperation = (...args: Parameters<ChatService['act']>) => chat.act(...args);

beforeAll(async () => {
  chat = await startChatService();
  instance_id = await chat.serveTools(configure);
});
afterAll(() => chat.close());
const UNDECIDED = { read_approval: null, write_approval: null, risky_approval: null };
afterEach(() => callOperation('agents_patch_settings', UNDECIDED));

async function agentWith(tools: object[]): Promise<string> {
  return (await callOperation('agents_create', { name: 'Clerk', model: 'openai_compatible/scripted', tools })).id;
}
const entry = (tools: string[], approval?: string) => ({
  type: 'mcp',
  instance_id,
  tools,
  ...(approval && { approval }),
});
/** Lets a new agent call a tool. Returns `auto` if the call was made, `ask` if a person was asked, `deny` if the tool was not offered. */
async function outcome(name: string, tools: object[]): Promise<string> {
  const id = await agentWith(tools);
  calls = [];
  chat.fake.script({
    answers: [{ content: [{ calls: [{ name, arguments: {} }] }] }, { content: [{ text: 'Done.' }] }],
  } as never);
  const { run_id: runID } = await callOperation('agents_run', { id, input: { message: 'Go.' } });
  const { services } = chat.service.container;
  await reached(services, chat.acme.owner, { id, runID }, 'blocked', 'complete');
  const { tasks } = (await callOperation('tasks_list_pending_run', { id, runID, limit: 50 })) as unknown as {
    tasks: object[];
  };
  if (tasks.length > 0) {
    expect(calls).toEqual([]);
    await callOperation('workflows_execute_command', { id, command: 'stop', params: { run_id: runID } });
    return 'ask';
  }
  return calls.length > 0 ? 'auto' : 'deny';
}

describe('the approvals that a workspace decides on', () => {
  test('are the default for entries without an approval', async () => {
    const open = (name: string) => outcome(name, [entry(['*'])]);
    expect([await open('read'), await open('write')]).toEqual(['auto', 'ask']);
    await callOperation('agents_patch_settings', { read_approval: 'ask', write_approval: 'auto' });
    expect([await open('read'), await open('write')]).toEqual(['ask', 'auto']);
    await callOperation('agents_patch_settings', {
      read_approval: 'deny',
      write_approval: null,
      risky_approval: 'auto',
    });
    expect([await open('read'), await open('write')]).toEqual(['deny', 'ask']);
    // A destructive tool asks even if every approval is `auto`.
    expect(await open('drop')).toBe('ask');
  });

  test('are a minimum for entries with an approval: the stricter one counts', async () => {
    const auto = (name: string) => outcome(name, [entry([name], 'auto')]);
    await callOperation('agents_patch_settings', { write_approval: 'ask' });
    expect([await auto('write'), await auto('read')]).toEqual(['ask', 'auto']);
    expect(await outcome('write', [entry(['write'], 'deny')])).toBe('deny');
    await callOperation('agents_patch_settings', { write_approval: 'auto' });
    expect(await outcome('write', [entry(['write'], 'ask')])).toBe('ask');
    // The approval for tools that only read, or that write, also applies to tools with an open world.
    await callOperation('agents_patch_settings', { write_approval: 'auto', risky_approval: 'ask' });
    expect([await auto('search'), await auto('send'), await auto('write')]).toEqual(['ask', 'ask', 'auto']);
    await callOperation('agents_patch_settings', { risky_approval: 'deny' });
    expect(await auto('search')).toBe('deny');
  });

  test('apply to operations of the service, too', async () => {
    const operation = { type: 'platform', operations: ['workflows_list'], approval: 'auto' };
    const offered = async () => {
      const id = await agentWith([operation]);
      chat.fake.script({
        answers: [
          { content: [{ calls: [{ name: 'workflows_list', arguments: {} }] }] },
          { content: [{ text: 'Done.' }] },
        ],
      } as never);
      const { run_id: runID } = await callOperation('agents_run', { id, input: { message: 'Go.' } });
      return reached(chat.service.container.services, chat.acme.owner, { id, runID }, 'blocked', 'complete').then(() =>
        callOperation('runs_get_summary', { id, runID }),
      );
    };
    expect(await offered()).toMatchObject({ orchestration_phase: 'complete' });
    await callOperation('agents_patch_settings', { read_approval: 'ask' });
    expect(await offered()).toMatchObject({ orchestration_phase: 'blocked' });
  });

  test('can be changed only by administrators, and read by every member', async () => {
    const { owner, contributor, viewer } = chat.acme;
    const as = (by: Principal, changes: object) => callOperation('agents_patch_settings', changes, by);
    const decided = { ...UNDECIDED, write_approval: 'deny' };
    for (const by of [contributor, viewer])
      await expect(as(by, { write_approval: 'auto' })).rejects.toMatchObject({
        status: 403,
        code: 'insufficient_role',
      });
    await expect(as(withScopes(owner, 'agent:read'), {})).rejects.toMatchObject({ code: 'insufficient_scope' });
    for (const wrong of [{ write_approval: 'never' }, { read: 'ask' }, { risky_approval: '' }])
      await expect(as(owner, wrong)).rejects.toMatchObject({ status: 422 });
    expect(await as(owner, { write_approval: 'deny' })).toEqual(decided);
    for (const by of [contributor, viewer, withScopes(viewer, 'agent:read')])
      expect(await callOperation('agents_get_settings', {}, by)).toEqual(decided);
    await expect(callOperation('agents_get_settings', {}, withScopes(owner, 'ai:use'))).rejects.toMatchObject({
      status: 403,
    });
    const globex = await createTestTenant(chat.service.container.services, { slug: 'globex' });
    expect(await callOperation('agents_get_settings', {}, globex.owner)).toEqual(UNDECIDED);
    const { entries } = (await callOperation('audit_log_list', {
      operation: 'agents_patch_settings',
      limit: 1,
    })) as unknown as {
      entries: { outcome?: string }[];
    };
    expect(entries).toHaveLength(1);
  });

  test('cannot be changed by an agent', async () => {
    const tools = [{ type: 'platform', operations: ['agents_patch_settings'], approval: 'auto' }];
    await expect(agentWith(tools)).rejects.toMatchObject({ status: 422, code: 'invalid_agent' });
    await expect(agentWith([{ ...tools[0], operations: ['agents_get_settings'] }])).resolves.toBeTypeOf('string');
  });

  test('do not apply to Autopilot', async () => {
    await callOperation('agents_patch_settings', { write_approval: 'ask' });
    const { services } = chat.service.container;
    const id = await agentWith([]);
    const { tenantId, projectId } = chat.acme;
    const readSettings = () =>
      createApprovalSettings(services).of(
        { id: newId(), workflowId: id, version: 1, tenantId, projectId },
        AbortSignal.timeout(10_000),
      );
    expect(await readSettings()).toMatchObject({ write: 'ask' });
    await services.pool.query(`UPDATE workflows SET kind = 'autopilot' WHERE id = $1`, [id]);
    expect(await readSettings()).toEqual({ read: null, write: null, risky: null });
  });
});

describe('the maximum cost of a call, in the task of its approval', () => {
  const prices = { workflow_step: 1_000, tool_call: 10_000, llm_input_tokens: 10, llm_output_tokens: 50 };
  const planned = (instance: string, read_only = false) => ({ instance_id: instance, read_only }) as PlannedTool;

  test.each([
    ['a tool of a server costs its step and the call', planned(newId()), 11_000],
    ['an operation that reads costs its step', planned('platform', true), 1_000],
    ['an operation that may start or continue runs has no maximum', planned('platform'), null],
    ['an unknown kind of tool has no maximum', planned('workflow'), null],
    ['a memory tool costs its step', planned('memory'), 1_000],
    ['a question to a person costs nothing', planned('person'), undefined],
  ])('%s', (_, tool, cost) => {
    expect(maxCostOfCall(tool, prices)).toBe(cost);
  });

  test('is in the task while it is pending, and is not exceeded', async () => {
    const id = await agentWith([entry(['write'])]);
    chat.fake.script({
      answers: [{ content: [{ calls: [{ name: 'write', arguments: {} }] }] }, { content: [{ text: 'Done.' }] }],
    } as never);
    const { run_id: runID } = await callOperation('agents_run', { id, input: { message: 'Go.' } });
    const { services } = chat.service.container;
    const ref = { id, runID };
    await reached(services, chat.acme.owner, ref, 'blocked');
    const task_id = 'agent.1.1.ok';
    const { prices: listed } = (await callOperation('billing_action_pricing')) as unknown as {
      prices: { action: string; microcredits: number }[];
    };
    const price = (action: string) => listed.find(each => each.action === action)?.microcredits ?? 0;
    const most = price('workflow_step') + price('tool_call');
    expect(most).toBeGreaterThan(0);
    const readTask = async () =>
      (
        (await callOperation('tasks_list_run', { ...ref, task_id, limit: 50 })).tasks as {
          max_cost_microcredits?: number;
        }[]
      )[0];
    expect((await readTask())?.max_cost_microcredits).toBe(most);
    await callOperation('tasks_complete', { ...ref, task_id, approved: true });
    await reached(services, chat.acme.owner, ref, 'complete');
    expect(await readTask()).not.toHaveProperty('max_cost_microcredits');
    const { rows } = await services.pool.query<{ credits: number }>(
      `SELECT coalesce(sum((data->>'credits')::float8), 0) AS credits FROM run_events WHERE run_id = $1 AND step_id = 'agent.1.1'`,
      [runID],
    );
    expect(rows[0]?.credits).toBe(most);
  });
});
