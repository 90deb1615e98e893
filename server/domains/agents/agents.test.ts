import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Context } from '../../operation/context.ts';
import { newId } from '../../platform/ids.ts';
import { type AgentService, startAgentService, UNUSABLE_MODEL } from '../../testing/agents.ts';
import { createTestTenant, type TestTenant } from '../../testing/identity.ts';
import { operationsByName } from '../../testing/operations.ts';
import { reached } from '../../testing/runs.ts';
import { call, contextFor, createTestProject, refusal } from '../../testing/workflows.ts';
import { runOperations } from '../runs/operations.ts';
import { workflowOperations } from '../workflows/operations.ts';
import { agentOperations } from './operations.ts';

const agents = operationsByName(agentOperations);
const workflows = operationsByName(workflowOperations);
const runs = operationsByName(runOperations);

let service: AgentService;
let tenant: TestTenant;
let ctx: Context;
const given = { name: 'Support', model: 'openai/gpt-5' };

const create = (more: object = {}, as = ctx) => call(agents.agents_create, as, { ...given, ...more });
const ifMatch = (etag: string) =>
  contextFor(service.services, tenant.owner, { headers: new Map([['if-match', etag]]) });

beforeAll(async () => {
  service = await startAgentService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  ctx = contextFor(service.services, tenant.owner);
});
afterAll(() => service.close());

describe('creating', () => {
  test('publishes the first version, with all defaults', async () => {
    const made = await create();
    expect(made).toMatchObject({
      ...given,
      description: '',
      status: 'active',
      version: 1,
      instructions: '',
      temperature: null,
      max_tokens: null,
      response_schema: null,
      memory: null,
      tools: [],
      limits: { max_turns: 25, max_tool_calls: 100, timeout_s: 3_600 },
      on_limit: 'answer',
      starters: [],
    });
    expect(await call(agents.agents_get, ctx, { id: made.id })).toEqual(made);
    expect(await call(workflows.workflows_get, ctx, { id: made.id })).toMatchObject({
      kind: 'agent',
      latest_version: 1,
    });
  });

  test('keeps everything that is given', async () => {
    const tools = [{ type: 'mcp', instance_id: newId(), tools: ['search', 'send'], approval: 'ask' }];
    const everything = {
      description: 'Answers tickets',
      instructions: 'Be brief. {{input.customer ?? "nobody"}}',
      temperature: 0.5,
      max_tokens: 1_000,
      response_schema: { type: 'object', properties: { b: {}, a: {} } },
      tools,
      limits: { max_turns: 3, max_tool_calls: 0, timeout_s: 60, budget_credits: 0.5 },
      on_limit: 'fail',
      starters: ['What is open?'],
    };
    const made = await create(everything);
    expect(made).toMatchObject(everything);
    expect(Object.keys(made.response_schema?.properties as object)).toEqual(['b', 'a']);
  });

  test('refuses settings that could not be published, and names the fields of the agent', async () => {
    const refused = await refusal(create({ model: UNUSABLE_MODEL }));
    expect(refused).toMatchObject({
      status: 422,
      code: 'invalid_agent',
      details: [{ path: 'model', code: 'model_key_missing' }],
    });
  });

  test.each([
    { limits: { max_turns: 0 } },
    { limits: { max_turns: 201 } },
    { limits: { max_tool_calls: 1_001 } },
    { limits: { timeout_s: 86_401 } },
    { limits: { budget_credits: 0 } },
    { limits: { context_tokens: 999 } },
    { limits: { context_tokens: 10_000_001 } },
    { limits: { budget_credits: 1_000_001 } },
    { temperature: 2.1 },
    { starters: Array.from({ length: 11 }, () => 'x') },
    { tools: [{ type: 'mcp', instance_id: newId(), tools: [] }] },
    { tools: [{ type: 'shell' }] },
    { name: ' ' },
    { colour: 'red' },
  ])('%j is 422', async more => {
    expect(await refusal(create(more))).toMatchObject({ status: 422 });
  });

  test.each([
    { budget_credits: 0.000_001 },
    { budget_credits: 1_000_000 },
    { max_turns: 1 },
    { max_turns: 200 },
    { max_tool_calls: 1_000 },
    { timeout_s: 86_400 },
    { context_tokens: 1_000 },
    { context_tokens: 10_000_000 },
  ])('limits at their bounds are accepted: %j', async limits =>
    expect((await create({ limits })).limits).toMatchObject(limits),
  );
});

describe('changing', () => {
  test('publishes a version with each change, and keeps the fields that are not given', async () => {
    const { id } = await create({ temperature: 1, limits: { max_turns: 3, budget_credits: 2, context_tokens: 9_000 } });
    const changed = await call(agents.agents_patch, ctx, { id, instructions: 'Be brief.', limits: { max_turns: 4 } });
    expect(changed).toMatchObject({
      version: 2,
      instructions: 'Be brief.',
      temperature: 1,
      limits: { max_turns: 4, max_tool_calls: 100, timeout_s: 3_600, budget_credits: 2, context_tokens: 9_000 },
    });
    const limits = { budget_credits: null, context_tokens: null };
    const cleared = await call(agents.agents_patch, ctx, { id, temperature: null, limits });
    expect(cleared).toMatchObject({ version: 3, temperature: null });
    expect(cleared.limits).toEqual({ max_turns: 4, max_tool_calls: 100, timeout_s: 3_600 });
    expect(await call(agents.agents_patch, ctx, { id, name: 'Other', starters: ['Hi'] })).toMatchObject({
      version: 4,
      name: 'Other',
      starters: ['Hi'],
    });
    const { versions } = await call(agents.agents_list_versions, ctx, { id });
    expect(versions.map(({ version, changelog }) => [version, changelog])).toEqual([
      [4, 'Changed: name, starters'],
      [3, 'Changed: temperature, limits'],
      [2, 'Changed: instructions, limits'],
      [1, 'Created'],
    ]);
    expect(versions[3]?.settings).toEqual({
      model: given.model,
      instructions: '',
      temperature: 1,
      tools: [],
      limits: { max_turns: 3, max_tool_calls: 100, timeout_s: 3_600, budget_credits: 2, context_tokens: 9_000 },
      on_limit: 'answer',
    });
    const first = await call(agents.agents_list_versions, ctx, { id, limit: 3 });
    const rest = await call(agents.agents_list_versions, ctx, { id, limit: 3, cursor: first.next_cursor });
    expect(rest.versions.map(({ version }) => version)).toEqual([1]);
  });

  test('publishes no version if no field differs', async () => {
    const made = await create({ limits: { max_turns: 3 } });
    const { id } = made;
    for (const same of [{}, { name: given.name }, { limits: { max_turns: 3 } }, { tools: [] }]) {
      expect(await call(agents.agents_patch, ctx, { id, ...same })).toEqual(made);
    }
  });

  test('is refused if the result could not be published', async () => {
    const { id } = await create();
    expect(await refusal(call(agents.agents_patch, ctx, { id, model: UNUSABLE_MODEL }))).toMatchObject({
      code: 'invalid_agent',
    });
    expect(await call(agents.agents_get, ctx, { id })).toMatchObject({ version: 1, model: given.model });
  });

  test('applies only to the state that If-Match names', async () => {
    const made = await create();
    const { id } = made;
    const next = await call(agents.agents_patch, ifMatch(made.etag), { id, name: 'Second' });
    const stale = await refusal(call(agents.agents_patch, ifMatch(made.etag), { id, name: 'Third' }));
    expect(stale).toMatchObject({ status: 412, code: 'etag_mismatch', headers: { ETag: next.etag } });
    expect(await call(agents.agents_patch, ifMatch(next.etag), { id, name: 'Third' })).toMatchObject({ version: 3 });
  });

  test('loses no change of many concurrent ones', async () => {
    const { id } = await create();
    const fields = [{ name: 'A' }, { description: 'B' }, { instructions: 'C' }, { temperature: 1 }];
    await Promise.all(fields.map(field => call(agents.agents_patch, ctx, { id, ...field })));
    const { version, ...after } = await call(agents.agents_get, ctx, { id });
    expect(after).toMatchObject(Object.assign({}, ...fields));
    expect(version).toBe(5);
  });
});

describe('a list', () => {
  test('shows the last runs, filters by status and text, and leaves out large fields', async () => {
    const { projectId } = await createTestProject(service.services, tenant, 'listed');
    const own = contextFor(service.services, { ...tenant.owner, projectId });
    const first = await create({ name: 'First', instructions: 'x'.repeat(1_000) }, own);
    const second = await create({ name: 'Second', description: 'of two' }, own);
    const { run_id } = await call(agents.agents_run, own, { id: first.id, input: { message: 'Hello' } });
    await reached(service.services, own.principal, { id: first.id, runID: run_id });
    const { instructions: _, response_schema: __, memory: ___, ...head } = first;
    const ids = async (input: object) => (await call(agents.agents_list, own, input)).agents.map(({ id }) => id);
    const listed = await call(agents.agents_list, own, {});
    expect(listed.agents.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(listed.agents[1]).toEqual({
      ...head,
      recent_runs: [
        {
          run_id,
          status: 'completed',
          orchestration_phase: 'complete',
          pending_tasks: 0,
          started_at: expect.any(String),
          ended_at: expect.any(String),
          credits_microcredits: 0,
        },
      ],
    });
    const page = await call(agents.agents_list, own, { limit: 1 });
    expect(await ids({ limit: 1, cursor: page.next_cursor })).toEqual([first.id]);
    expect(await ids({ q: 'of tw' })).toEqual([second.id]);
    expect(await ids({ q: first.id })).toEqual([first.id]);
    expect(await ids({ q: '%' })).toEqual([]);
    await call(agents.agents_patch, own, { id: first.id, status: 'disabled' });
    expect(await ids({ status: 'disabled' })).toEqual([first.id]);
    expect(await ids({ status: 'active' })).toEqual([second.id]);
    await call(agents.agents_archive, own, { id: second.id });
    expect(await ids({})).toEqual([first.id]);
    expect(await ids({ status: 'archived' })).toEqual([second.id]);
  });
});

describe('running', () => {
  test('starts a run that answers, under the same id', async () => {
    const { id } = await create();
    const { run_id, workflow_id } = await call(agents.agents_run, ctx, { id, input: { message: 'Hello' } });
    expect(workflow_id).toBe(id);
    await reached(service.services, tenant.owner, { id, runID: run_id });
    expect(await call(runs.runs_get_summary, ctx, { id, runID: run_id })).toMatchObject({
      status: 'completed',
      output: { text: 'Hello', ended_by: 'answered' },
    });
  });

  test('an input without a message is refused', async () => {
    const { id } = await create();
    for (const input of [{}, { message: '' }, { message: 7 }]) {
      const refused = await refusal(call(agents.agents_run, ctx, { id, input }));
      expect(refused).toMatchObject({ status: 422, code: 'invalid_input' });
    }
  });

  test('repeats with the same Idempotency-Key start one run', async () => {
    const { id } = await create();
    const keyed = () => contextFor(service.services, tenant.owner, { headers: new Map([['idempotency-key', 'one']]) });
    const [first, second] = [
      await call(agents.agents_run, keyed(), { id, input: { message: 'Hello' } }),
      await call(agents.agents_run, keyed(), { id, input: { message: 'Hello' } }),
    ];
    expect(second).toEqual(first);
  });

  test('a disabled agent starts and reruns nothing, until it is active again', async () => {
    const { id } = await create();
    const { run_id } = await call(agents.agents_run, ctx, { id, input: { message: 'Hello' } });
    await reached(service.services, tenant.owner, { id, runID: run_id });
    await call(agents.agents_patch, ctx, { id, status: 'disabled' });
    const start = { id, command: 'start', params: { message: 'Hello' } };
    for (const attempt of [
      () => call(agents.agents_run, ctx, { id, input: { message: 'Hello' } }),
      () => call(runs.workflows_execute_command, ctx, start),
      () => call(runs.runs_rerun, ctx, { id, runID: run_id }),
    ]) {
      expect(await refusal(attempt())).toMatchObject({ status: 422, code: 'agent_disabled' });
    }
    await call(agents.agents_patch, ctx, { id, status: 'active' });
    await call(runs.workflows_execute_command, ctx, start);
  });

  test('a workflow with an agent is not started if agents are switched off', async () => {
    const { id } = await create();
    const { services } = service;
    const off = contextFor({ ...services, config: { ...services.config, agents: false } }, tenant.owner);
    const refused = await refusal(
      call(runs.workflows_execute_command, off, { id, command: 'start', params: { message: 'x' } }),
    );
    expect(refused).toMatchObject({ status: 422, code: 'agents_disabled' });
  });
});

describe('validating', () => {
  test('reports the problems for which saving would be refused, and saves nothing', async () => {
    const made = await create();
    const { id } = made;
    expect(await call(agents.agents_validate, ctx, { id })).toEqual({ valid: true, errors: [], warnings: [] });
    const report = await call(agents.agents_validate, ctx, { id, model: UNUSABLE_MODEL });
    expect(report).toMatchObject({
      valid: false,
      errors: [{ step_id: null, path: 'model', code: 'model_key_missing' }],
    });
    expect(await call(agents.agents_get, ctx, { id })).toEqual(made);
  });
});

describe('archiving', () => {
  test('is refused while workflows name the agent, in a loop too, unless it is forced', async () => {
    const { id } = await create();
    const step = { id: 'ask', type: 'agent', agent_id: id, prompt: 'Hello' };
    const loop = { id: 'each', type: 'for_each', items: '[1]', steps: [step] };
    const user = await call(workflows.workflows_create, ctx, { name: 'Uses it', graph: { steps: [loop] } });
    await call(workflows.workflows_create, ctx, {
      name: 'Only mentions it',
      graph: { steps: [{ id: 'a', type: 'lua_script', script: `return "${id}"` }] },
    });
    const refused = await refusal(call(agents.agents_archive, ctx, { id }));
    expect(refused).toMatchObject({
      status: 409,
      code: 'agent_in_use',
      details: [{ path: `workflows.${user.id}`, message: '“Uses it” names it in its draft' }],
    });
    await call(agents.agents_archive, ctx, { id, force: true });
    await call(agents.agents_archive, ctx, { id });
    expect(await call(agents.agents_get, ctx, { id })).toMatchObject({ status: 'archived' });
    expect(await refusal(call(agents.agents_patch, ctx, { id, name: 'Other' }))).toMatchObject({
      status: 409,
      code: 'agent_archived',
    });
    expect(await refusal(call(agents.agents_run, ctx, { id, input: { message: 'x' } }))).toMatchObject({
      code: 'workflow_archived',
    });
  });
});

test('a workflow of another kind, project or workspace is not found as an agent', async () => {
  const { id } = await create();
  const workflow = await call(workflows.workflows_create, ctx, { name: 'Plain' });
  const rival = await createTestTenant(service.services, { slug: 'rival' });
  const { projectId } = await createTestProject(service.services, tenant, 'third');
  const elsewhere = [
    [ctx, workflow.id],
    [contextFor(service.services, rival.owner), id],
    [contextFor(service.services, { ...tenant.owner, projectId }), id],
  ] as const;
  for (const [as, id] of elsewhere) {
    for (const attempt of [
      () => call(agents.agents_get, as, { id }),
      () => call(agents.agents_patch, as, { id, name: 'Mine' }),
      () => call(agents.agents_archive, as, { id, force: true }),
      () => call(agents.agents_list_versions, as, { id }),
      () => call(agents.agents_validate, as, { id }),
      () => call(agents.agents_run, as, { id, input: { message: 'x' } }),
    ]) {
      expect(await refusal(attempt())).toMatchObject({ status: 404 });
    }
  }
});
