import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { operations } from '../../../api/operations.ts';
import type { Principal } from '../../../operation/context.ts';
import { newId } from '../../../platform/ids.ts';
import { createCall } from '../../../testing/call.ts';
import { startTestContainer, type TestContainer } from '../../../testing/container.ts';
import { createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { startSdkServer, type TestServer } from '../../../testing/mcp-server.ts';
import { reached } from '../../../testing/runs.ts';
import { luaStep, refusal } from '../../../testing/workflows.ts';
import { MAX_CHECKS, type TrialSchema } from '../schemas.ts';

/** The arguments of the calls of the tools `send` and `find`, in order. */
let sent: string[] = [];
let found: string[] = [];

function configure(server: McpServer): void {
  server.registerTool(
    'send',
    { inputSchema: z.strictObject({ text: z.string() }), outputSchema: { sent: z.boolean(), id: z.string() } },
    ({ text }) => {
      sent.push(text);
      const answer = { sent: false, id: `real ${text}` };
      return { structuredContent: answer, content: [{ type: 'text', text: JSON.stringify(answer) }] };
    },
  );
  server.registerTool(
    'find',
    { inputSchema: z.strictObject({ id: z.string() }), annotations: { readOnlyHint: true } },
    ({ id }) => {
      found.push(id);
      return { content: [{ type: 'text', text: JSON.stringify({ id, open: 3 }) }] };
    },
  );
}

let service: TestContainer;
let tools: TestServer;
let acme: TestTenant;
let rival: TestTenant;
let call: ReturnType<typeof createCall<typeof operations>>;
let instance_id: string;

type Made = { id: string; run_id: string } & Record<string, unknown>;
type Trial = z.output<typeof TrialSchema>;
const act = async (name: (typeof operations)[number]['name'], input: object, by: Principal = acme.owner) =>
  (await call(by, name, input)) as Made;

beforeAll(async () => {
  service = await startTestContainer({ BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' });
  tools = await startSdkServer({ configure });
  const { services } = service.container;
  acme = await createTestTenant(services, { slug: 'acme' });
  rival = await createTestTenant(services, { slug: 'rival' });
  call = createCall(services, operations);
  const server = await act('mcp_servers_create', { name: 'Tools', canonical_url: tools.url, auth_mode: 'none' });
  await act('mcp_servers_discover', { id: server.id });
  await act('mcp_servers_publish_version', { id: server.id });
  ({ id: instance_id } = await act('mcp_instances_create', { server_id: server.id, name: 'Tools' }));
});
afterAll(async () => {
  await service.close();
  await tools[Symbol.asyncDispose]();
});
beforeEach(() => {
  sent = [];
  found = [];
});

type Step = { id: string; type: string } & Record<string, unknown>;
const toolStep = (id: string, tool_name: string, tool_args: object, ...depends_on: string[]): Step => ({
  id,
  type: 'mcp_call',
  instance_id,
  tool_name,
  tool_args,
  depends_on,
});
const propose = (steps: Step[], more: object = {}) =>
  act('autopilot_propose', { title: 'Tried', edits: steps.map(step => ({ type: 'add_step', step })), ...more });
const attempt = async (id: string, checks: object[], more: object = {}, by: Principal = acme.viewer) =>
  (await call(by, 'autopilot_try_proposal', { id, checks, ...more })) as Trial;
/** Starts a live trial of the proposal in its current state, with consent to the host of the tools. */
const startLiveTrial = async (id: string, input: object, by?: Principal) => {
  const { etag } = await act('autopilot_get_proposal', { id });
  return act('autopilot_try_live', { id, etag, hosts: [new URL(tools.url).host], ...input }, by);
};
const readTrial = async (id: string) => (await call(acme.viewer, 'autopilot_get_trial', { id })) as Trial;

/** Tries a proposal of these steps; returns the trial once it has ended. */
async function tried(steps: Step[], checks: object[], more: object = {}, by?: Principal): Promise<Trial> {
  const { id } = await propose(steps);
  const started = await attempt(id, checks, more, by);
  await reached(service.container.services, acme.owner, { id: started.workflow_id, runID: started.run_id });
  expect(await act('autopilot_get_proposal', { id })).toMatchObject({ tried: true });
  return readTrial(id);
}

describe('a trial', () => {
  test('proves the results of scripts and of tools that only read', async () => {
    const steps = [
      toolStep('find', 'find', { id: '{{input.order}}' }),
      luaStep('double', 'return { twice = 2 * steps.find.result.open }', 'find'),
    ];
    const checks = [{ step: 'double', path: 'twice', op: 'equals', value: 6 }];
    const trial = await tried(steps, checks, { input: { order: 'A1' } });
    expect(trial).toMatchObject({ verdict: 'proven', run_status: 'completed', stand_ins: [], current: true });
    expect(trial.checks).toMatchObject([{ result: 'proven', actual: 6 }]);
    expect(found).toEqual(['A1']);
  });

  test('calls no tool that writes and asks no person; checks that depend on these are simulated', async () => {
    const steps = [
      luaStep('before', 'return { text = "hello" }'),
      { id: 'ask', type: 'human_task', instructions: 'Send {{steps.before.result.text}}?', depends_on: ['before'] },
      toolStep('send', 'send', { text: '{{steps.before.result.text}}' }, 'ask'),
      { id: 'pause', type: 'wait', seconds: 86_400, depends_on: ['send'] },
      luaStep('after', 'return steps.send.result.sent and steps.ask.result.approved', 'pause', 'send', 'ask'),
    ];
    const checks = [
      { step: 'before', path: 'text', op: 'equals', value: 'hello' },
      { step: 'after', op: 'equals', value: true },
    ];
    const trial = await tried(steps, checks);
    expect(sent).toEqual([]);
    expect(trial).toMatchObject({ verdict: 'simulated', checks: [{ result: 'proven' }, { result: 'simulated' }] });
    expect(trial.stand_ins).toEqual([
      { step: 'ask', type: 'human_task', why: 'asks_people', hosts: [], source: 'example' },
      { step: 'send', type: 'mcp_call', why: 'writes', hosts: [new URL(tools.url).host], source: 'example' },
      { step: 'pause', type: 'wait', why: 'waits', hosts: [], source: 'example' },
    ]);
  });

  test('executes the steps to which a contributor has agreed, and replaces the others', async () => {
    const steps = [
      toolStep('first', 'send', { text: 'one' }),
      toolStep('second', 'send', { text: 'two' }, 'first'),
      luaStep('after', 'return steps.first.result.id', 'first'),
    ];
    const checks = [{ step: 'after', op: 'equals', value: 'real one' }];
    const { id } = await propose(steps);
    const startLive = (really: string[], by?: Principal) =>
      startLiveTrial(id, { really, budget_credits: 5, checks }, by);
    expect(await refusal(startLive(['first']))).toMatchObject({ status: 409, code: 'trial_needed' });
    const simulated = await attempt(id, checks);
    await reached(service.container.services, acme.owner, { id: simulated.workflow_id, runID: simulated.run_id });
    expect(sent).toEqual([]);
    expect(await refusal(startLive(['after']))).toMatchObject({ status: 422, code: 'unknown_step' });
    expect(await refusal(startLive(['first'], acme.viewer))).toMatchObject({ status: 403, code: 'insufficient_role' });
    const { workflow_id, run_id } = (await startLive(['first'])) as unknown as Trial;
    await reached(service.container.services, acme.owner, { id: workflow_id, runID: run_id });
    expect(sent).toEqual(['one']);
    const trial = await readTrial(id);
    const executed = [{ step: 'first', type: 'mcp_call', why: 'writes', hosts: [new URL(tools.url).host] }];
    expect(trial).toMatchObject({ verdict: 'proven', live: { really: ['first'], budget_credits: 5, executed } });
    expect(trial.stand_ins.map(({ step }) => step)).toEqual(['second']);

    const again = (await startLive(['first', 'second'])) as unknown as Trial;
    await reached(service.container.services, acme.owner, { id: workflow_id, runID: again.run_id });
    expect(sent).toEqual(['one', 'one', 'two']);
    expect(again).toMatchObject({ stand_ins: [], live: { executed: [{ step: 'first' }, { step: 'second' }] } });
  });

  test('is stopped above its budget if it is live', async () => {
    const steps = [
      toolStep('send', 'send', { text: 'costly' }),
      { id: 'ask', type: 'human_task', name: 'Go on?', depends_on: ['send'] },
    ];
    const checks = [{ step: 'ask', op: 'completed' }];
    const { id } = await propose(steps);
    await attempt(id, checks);
    const started = await startLiveTrial(id, { really: ['send', 'ask'], budget_credits: 0.000_001, checks });
    const run = { id: String(started.workflow_id), runID: started.run_id };
    await reached(service.container.services, acme.owner, run);
    expect(await act('runs_get_summary', run)).toMatchObject({ status: 'stopped' });
    expect(sent).toEqual(['costly']);
  });

  test('replaces steps of loops, requests that send what the run has read, and every request of a viewer', async () => {
    const url = 'http://127.0.0.1:9/';
    const steps = [
      {
        id: 'each',
        type: 'for_each',
        items: '{{input.list}}',
        steps: [toolStep('send', 'send', { text: '{{item}}' })],
      },
      { id: 'told', type: 'http_request', url: `${url}?q={{input.list}}`, on_error: 'continue' },
      { id: 'fixed', type: 'http_request', url, on_error: 'continue' },
      { id: 'posted', type: 'http_request', url, method: 'POST', on_error: 'continue' },
    ];
    const checks = [{ step: 'each', op: 'completed' }];
    const replaced = async (by: Principal) =>
      (await tried(steps, checks, { input: { list: ['a', 'b'] } }, by)).stand_ins.map(({ step, why }) => [step, why]);
    const always = [
      ['each', 'writes'],
      ['told', 'sends'],
      ['posted', 'sends'],
    ];
    expect(await replaced(acme.contributor)).toEqual(always);
    expect(await replaced(acme.viewer)).toEqual([...always.slice(0, 2), ['fixed', 'sends'], ...always.slice(2)]);
    expect(sent).toEqual([]);
  });

  test('fails if a check fails', async () => {
    const trial = await tried([luaStep('a', 'return 1')], [{ step: 'a', op: 'equals', value: 2 }]);
    expect(trial).toMatchObject({ verdict: 'failed', run_status: 'completed', checks: [{ actual: 1 }] });
  });

  test('fails if the run fails, even by a template of a replaced step', async () => {
    const steps = [luaStep('a', 'return {}'), toolStep('send', 'send', { text: '{{steps.a.result.missing}}' }, 'a')];
    const trial = await tried(steps, [{ step: 'a', op: 'completed' }]);
    expect(trial).toMatchObject({ verdict: 'failed', run_status: 'failed', checks: [{ result: 'proven' }] });
    expect(sent).toEqual([]);
  });

  test('uses the result of a step in the last run of the workflow', async () => {
    const steps = [toolStep('send', 'send', { text: 'once' })];
    const { id: workflow_id } = await act('workflows_create', { name: 'Real', graph: { steps } });
    await act('workflows_publish_version', { id: workflow_id });
    const { run_id } = await act('workflows_execute_command', { id: workflow_id, command: 'start' });
    await reached(service.container.services, acme.owner, { id: workflow_id, runID: run_id });
    const { id } = await propose([luaStep('after', 'return steps.send.result.id', 'send')], { workflow_id });
    const started = await attempt(id, [{ step: 'after', op: 'equals', value: 'real once' }]);
    expect(started.stand_ins).toMatchObject([{ step: 'send', source: 'recorded' }]);
    await reached(service.container.services, acme.owner, { id: started.workflow_id, runID: started.run_id });
    expect(await readTrial(id)).toMatchObject({ verdict: 'simulated' });
    expect(sent).toEqual(['once']);
  });

  test('continues a failed run with the results of its steps', async () => {
    // The step depends on both others, so that they have ended when the step fails.
    const broken = luaStep('double', 'error("broken")', 'find', 'send');
    const steps = [
      toolStep('find', 'find', { id: '{{input.order}}' }),
      toolStep('send', 'send', { text: 'x' }),
      broken,
    ];
    const { id: workflow_id } = await act('workflows_create', { name: 'Broken', graph: { steps } });
    await act('workflows_publish_version', { id: workflow_id });
    const start = { id: workflow_id, command: 'start', params: { trigger_payload: { order: 'A7' } } };
    const { run_id: from_run } = await act('workflows_execute_command', start);
    await reached(service.container.services, acme.owner, { id: workflow_id, runID: from_run });
    const set = { script: 'return 2 * steps.find.result.open + (steps.send.result.sent and 1 or 0)' };
    const edit = { type: 'update_step', step: 'double', set: { ...set, depends_on: ['find', 'send'] } };
    const { id } = await act('autopilot_propose', { title: 'Fix', workflow_id, edits: [edit] });
    const checks = [{ step: 'double', op: 'equals', value: 6 }];
    const started = await attempt(id, checks, { from_run, from_step: 'double' });
    expect(started).toMatchObject({ stand_ins: [], from_run, from_step: 'double' });
    await reached(service.container.services, acme.owner, { id: started.workflow_id, runID: started.run_id });
    expect(await readTrial(id)).toMatchObject({ verdict: 'proven', checks: [{ actual: 6 }] });
    expect([found, sent]).toEqual([['A7'], ['x']]);

    // The trial continues from the step that sends, which a person can let a live trial execute.
    const replaced = await attempt(id, checks, { from_run, from_step: 'send' });
    expect(replaced.stand_ins).toMatchObject([{ step: 'send' }]);
    const liveTrial = { checks, really: ['send'], budget_credits: 5, from_run, from_step: 'send' };
    const real = (await startLiveTrial(id, liveTrial)) as unknown as Trial;
    await reached(service.container.services, acme.owner, { id: real.workflow_id, runID: real.run_id });
    expect(await readTrial(id)).toMatchObject({ verdict: 'proven', from_step: 'send', live: { really: ['send'] } });
    expect([found, sent]).toEqual([['A7'], ['x', 'x']]);

    const from = (more: object) => refusal(attempt(id, checks, more));
    expect(await from({ from_run })).toMatchObject({ status: 422, details: [{ path: 'from_step' }] });
    expect(await from({ from_step: 'double' })).toMatchObject({ status: 422, details: [{ path: 'from_run' }] });
    expect(await from({ from_run, from_step: 'nobody' })).toMatchObject({ status: 422, code: 'unknown_step' });
    expect(await from({ from_run: newId(), from_step: 'double' })).toMatchObject({ status: 404 });
    expect(await from({ from_run: started.run_id, from_step: 'double' })).toMatchObject({ status: 404 });
  });

  test('runs in a hidden workflow, and is no longer current after an edit', async () => {
    const { id } = await propose([luaStep('a', 'return 1')]);
    const first = await attempt(id, [{ step: 'a', op: 'completed' }]);
    const second = await attempt(id, [{ step: 'a', op: 'completed' }]);
    expect(second.workflow_id).toBe(first.workflow_id);
    expect(second.run_id).not.toBe(first.run_id);
    await act('autopilot_edit_proposal', { id, edits: [{ type: 'update_step', step: 'a', set: { name: 'A' } }] });
    expect(await readTrial(id)).toMatchObject({ run_id: second.run_id, current: false });
    const listed = (await act('workflows_list', { q: first.workflow_id })) as unknown as { workflows: unknown[] };
    expect(listed.workflows).toEqual([]);
    expect(await act('workflows_get', { id: first.workflow_id })).toMatchObject({ kind: 'trial', status: 'draft' });
  });

  test('keeps its verdict after its run is deleted', async () => {
    const trial = await tried([luaStep('a', 'return 1')], [{ step: 'a', op: 'completed' }]);
    await service.db.pool.query('DELETE FROM runs WHERE id = $1', [trial.run_id]);
    expect(await readTrial(trial.proposal_id)).toEqual({ ...trial, run_status: null });
  });
});

describe('refused', () => {
  test('are trials of a proposal that cannot run or is closed', async () => {
    const { id } = await propose([luaStep('a', 'return', 'nobody')]);
    const checks = [{ step: 'a', op: 'completed' }];
    expect(await refusal(attempt(id, checks))).toMatchObject({ status: 422, code: 'invalid_graph' });
    await act('autopilot_discard_proposal', { id });
    expect(await refusal(attempt(id, checks))).toMatchObject({ status: 409, code: 'proposal_closed' });
    expect(await refusal(readTrial(id))).toMatchObject({ status: 404 });
  });

  test('are checks of unknown steps, and too many checks', async () => {
    const { id } = await propose([luaStep('a', 'return 1')]);
    const check = { step: 'a', op: 'completed' };
    const unknown = await refusal(attempt(id, [check, { step: 'b', op: 'completed' }]));
    expect(unknown).toMatchObject({ status: 422, code: 'unknown_step', details: [{ path: 'checks[1].step' }] });
    expect(await attempt(id, Array(MAX_CHECKS).fill(check))).toMatchObject({ proposal_id: id });
    expect(await refusal(attempt(id, Array(MAX_CHECKS + 1).fill(check)))).toMatchObject({ status: 422 });
    expect(await refusal(attempt(id, []))).toMatchObject({ status: 422 });
  });

  test('are members of other workspaces, and tokens without the scopes of the steps', async () => {
    const { id } = await propose([toolStep('find', 'find', { id: '1' })]);
    const checks = [{ step: 'find', op: 'completed' }];
    expect(await refusal(attempt(id, checks, {}, rival.owner))).toMatchObject({ status: 404 });
    expect(await refusal(call(rival.owner, 'autopilot_get_trial', { id }))).toMatchObject({ status: 404 });
    const token = (...scopes: string[]) =>
      ({ ...acme.owner, credential: { kind: 'pat', patId: newId(), scopes } }) as Principal;
    for (const carried of [['ai:use'], ['ai:use', 'workflow:read']]) {
      expect(await refusal(attempt(id, checks, {}, token(...carried)))).toMatchObject({ status: 403 });
    }
    expect(found).toEqual([]);
  });

  test('is a stand-in in a draft', async () => {
    const step = { id: 'a', type: 'stand_in', stands_for: 'wait', inputs: {}, result: 1 };
    expect(await propose([step])).toMatchObject({ validation: { errors: [{ code: 'unknown_type' }] } });
  });
});
