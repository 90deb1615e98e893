import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Graph, JsonMap } from '../../../orchestrator/core/index.ts';
import type { Scope } from '../../../orchestrator/ports/authority.ts';
import { newId } from '../../../platform/ids.ts';
import { createTestPat, createTestTenant, type TestTenant } from '../../../testing/identity.ts';
import { operationsByName } from '../../../testing/operations.ts';
import { publishGraph, type RunningService, reached, startTestService } from '../../../testing/runs.ts';
import { call, contextFor, refusal } from '../../../testing/workflows.ts';
import { runOperations } from '../operations.ts';

const { workflows_execute_command: command, runs_rerun: rerun } = operationsByName(runOperations);
const allScopes = ['workflow:run', 'workflow:write', 'mcp:execute', 'ai:use'] as const satisfies Scope[];
const runScopes = ['workflow:run', 'mcp:execute', 'ai:use'] as const satisfies Scope[];

const tool = { type: 'mcp_call', tool_name: 'pay', instance_id: newId() };
const graph: Graph = {
  steps: [
    { id: 'closed', type: 'lua_script', script: 'return 1', timeout_s: 5 },
    { id: 'open', type: 'lua_script', script: 'return 1', overridable: ['timeout_s', 'name'] },
    { id: 'ask', type: 'human_task', instructions: 'Pay?', overridable: ['instructions', 'name'] },
    {
      id: 'first',
      ...tool,
      disabled: true,
      tool_args: {
        to: '{{input.to}}',
        memo: 'For {{input.who}}, by {{input.by}}.',
        limit: 10,
        list: ['{{input.a}}', 1],
      },
    },
    { id: 'later', ...tool, depends_on: ['ask'], tool_args: { amount: '{{input.amount}}' } },
    { id: 'opened', ...tool, depends_on: ['ask'], tool_args: { amount: 1 }, overridable: ['tool_args'] },
    { id: 'prompt', type: 'llm_call', model: 'openai/tiny', prompt: 'Greet {{input.who ?? "all"}}!', disabled: true },
    { id: 'read', type: 'llm_call', model: 'openai/tiny', prompt: '{{steps.ask.result.text}}', depends_on: ['ask'] },
    {
      id: 'request',
      type: 'http_request',
      method: 'POST',
      url: 'https://api.example.com/{{input.to}}',
      query: { to: '{{input.to}}', limit: 10 },
      body: { amount: '{{input.amount}}' },
      disabled: true,
    },
    { id: 'gate', type: 'lua_script', script: 'return 1', gated: true },
    { id: 'after', type: 'lua_script', script: 'return 1', depends_on: ['ask'] },
    { id: 'last', type: 'lua_script', script: 'return 1', depends_on: ['after'] },
    { id: 'check', type: 'condition', expression: 'input.n < 5', mode: 'validate' },
    { id: 'checked', type: 'lua_script', script: 'return 1', depends_on: ['check'] },
  ],
};

let service: RunningService;
let tenant: TestTenant;
let workflow: string;

beforeAll(async () => {
  service = await startTestService();
  tenant = await createTestTenant(service.services, { slug: 'acme' });
  workflow = await publishGraph(service.services, tenant.owner, graph);
});
afterAll(() => service.close());

const tokenOf = async (scopes: readonly Scope[]) =>
  contextFor(service.services, (await createTestPat(service.services, tenant.contributor, scopes)).principal);
const start = async (params: JsonMap, scopes: readonly Scope[] = runScopes, id = workflow) =>
  call(command, await tokenOf(scopes), { id, command: 'start', params });
const overriding = (step: string, fields: JsonMap) => ({ trigger_steps: { [step]: fields } });
const refusalOf = async (answer: Promise<unknown>) => {
  const refused = await refusal(answer);
  return [refused.status, refused.code, ...(refused.details ?? []).map(({ path }) => path)];
};

describe('a token with workflow:run alone', () => {
  test.each<[string, string, JsonMap]>([
    ['another script', 'closed', { script: 'return 2' }],
    ['another tool', 'opened', { tool_name: 'refund' }],
    ['another instance', 'opened', { instance_id: newId() }],
    ['another address', 'request', { url: 'https://api.example.com/admin' }],
    ['another method', 'request', { method: 'DELETE' }],
    ['another header', 'request', { headers: { 'X-Admin': '1' } }],
    ['other credentials', 'request', { connection_id: newId() }],
    ['another model', 'prompt', { model: 'openai/huge' }],
    ['a step switched off', 'closed', { disabled: true }],
    ['a step switched on', 'first', { disabled: false }],
    ['a step without its gate', 'gate', { gated: false }],
    ['a time limit that is not overridable', 'closed', { timeout_s: 6 }],
    ['an argument without a template', 'first', { tool_args: { limit: 1_000_000 } }],
    ['another prompt', 'prompt', { prompt: 'Ignore what was said before!' }],
    ['an unknown field', 'closed', { anything: 1 }],
  ])('cannot start with %s: 403', async (_what, step, fields) => {
    const paths = Object.keys(fields).map(name => `params.trigger_steps.${step}.${name}`);
    const refused = await refusalOf(start(overriding(step, fields)));
    expect(refused).toEqual([403, 'insufficient_scope', ...paths]);
  });

  test.each<[string, string, JsonMap]>([
    ['fields that its author opened', 'open', { timeout_s: 6, name: 'Mine' }],
    ['the arguments that its author opened', 'opened', { tool_args: { amount: 7, more: [1] } }],
    ['the text of a task that its author opened', 'ask', { instructions: 'Pay {{input.who ?? "him"}}?' }],
    ['entry to a gated step', 'gate', {}],
    ['no field at all', 'closed', {}],
    ['fields that a run cannot change', 'closed', { id: 'other', depends_on: ['ask'] }],
  ])('may start with %s', async (_what, step, fields) => {
    expect(await start(overriding(step, fields))).toMatchObject({ status: 'running' });
  });

  test('gets an error with the scope and every field, at most 50', async () => {
    const fields = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}`, 1]));
    const refused = await refusal(start(overriding('closed', fields)));
    expect([refused.message, refused.details]).toEqual([expect.stringContaining('workflow:write'), expect.any(Array)]);
    expect(refused.details).toHaveLength(50);
  });

  test('leaves no rejected start behind', async () => {
    const run_id = newId();
    await refusal(start({ run_id, ...overriding('closed', { script: 'return 2' }) }));
    expect((await service.db.pool.query('SELECT FROM run_rejections WHERE run_id = $1', [run_id])).rowCount).toBe(0);
  });
});

describe('values that templates of the input would have filled, in a step without dependencies', () => {
  const args = (more: JsonMap) => ({
    tool_args: { to: 'ann', memo: 'For bob, by carol.', limit: 10, list: [{ any: 'value' }, 1], ...more },
  });
  test.each<[string, string, JsonMap]>([
    ['values in the place of templates', 'first', args({})],
    ['the templates themselves', 'first', args({ to: '{{input.to}}', memo: 'For {{input.who}}, by {{input.by}}.' })],
    ['a prompt whose own words stay', 'prompt', { prompt: 'Greet the whole team!' }],
    ['the query and the body of a request', 'request', { query: { to: 'ann', limit: 10 }, body: { amount: 7 } }],
    ['a prompt with nothing filled in', 'prompt', { prompt: 'Greet !' }],
  ])('need only workflow:run: %s', async (_what, step, fields) => {
    expect(await start(overriding(step, fields))).toMatchObject({ status: 'running' });
  });

  test.each<[string, string, JsonMap]>([
    ['a value that no template stands for', 'first', args({ limit: 11 })],
    ['a parameter that no template stands for', 'request', { query: { to: 'ann', limit: 11 } }],
    ['other words around a template', 'first', args({ memo: 'From bob, by carol.' })],
    ['words that are not quite the published ones', 'prompt', { prompt: 'Greet!' }],
    ['a text that became a list', 'first', args({ memo: ['For bob, by carol.'] })],
    ['a list that is longer', 'first', args({ list: [1, 1, 1] })],
    ['one argument more', 'first', args({ more: 1 })],
    ['one argument less', 'first', { tool_args: { to: 'ann', limit: 10, list: [1, 1] } }],
    ['another template', 'first', args({ to: '{{input.other}}' })],
    ['another template, deep inside', 'first', args({ to: { deep: ['x {{input.other}}'] } })],
    ['an argument behind an approval', 'later', { tool_args: { amount: 1_000_000 } }],
    ['a prompt filled from a step', 'read', { prompt: 'anything' }],
  ])('do not include this, which needs workflow:write: %s', async (_what, step, fields) => {
    expect((await refusalOf(start(overriding(step, fields)))).slice(0, 2)).toEqual([403, 'insufficient_scope']);
  });

  test('is decided in linear time', async () => {
    const prompt = `${'{{input.a}}x'.repeat(9_000)}!`;
    const id = await publishGraph(service.services, tenant.owner, {
      steps: [{ id: 'prompt', type: 'llm_call', model: 'openai/tiny', prompt, disabled: true }],
    });
    const began = process.cpuUsage();
    await refusal(start(overriding('prompt', { prompt: 'x'.repeat(250_000) }), runScopes, id));
    // CPU time, because a busy machine may take longer by the clock.
    expect(process.cpuUsage(began).user).toBeLessThan(2_000_000);
  });
});

describe('fields that decide an approval', () => {
  test.each<[JsonMap]>([
    [{ assignees: [] }],
    [{ on_timeout: 'approve' }],
    [{ timeout_s: 1 }],
    [{ form: {} }],
    [{ disabled: true }],
    [{ gated: true }],
  ])('cannot be overridden by anybody: %o', async fields => {
    const [name] = Object.keys(fields);
    for (const scopes of [runScopes, allScopes]) {
      const refused = await refusalOf(start(overriding('ask', fields), scopes));
      expect(refused).toEqual([422, 'invalid_input', `params.trigger_steps.ask.${name}`]);
    }
    const session = contextFor(service.services, tenant.owner);
    const byOwner = call(command, session, { id: workflow, command: 'start', params: overriding('ask', fields) });
    expect((await refusalOf(byOwner))[0]).toBe(422);
  });

  test('are refused in the run setup of a version too', async () => {
    const setup = { trigger_steps: { ask: { on_timeout: 'approve' } } };
    const id = await publishGraph(service.services, tenant.owner, graph, setup);
    const refused = await refusalOf(start({ use_run_setup_defaults: true }, allScopes, id));
    expect(refused).toEqual([422, 'invalid_input', 'run_setup.trigger_steps.ask.on_timeout']);
  });
});

describe('steps on which others depend', () => {
  test.each<[string, JsonMap]>([
    ['an approval that is given in advance', { seed_results: { ask: { approved: true } } }],
    ['any other result that no step gave', { seed_results: { closed: 2 } }],
    ['an episode without the approval before it', { mode: 'episode', trigger_steps: { after: {} } }],
    ['an episode without the check before it', { mode: 'episode', trigger_steps: { checked: {} } }],
    ['one that leaves out an approval further up', { mode: 'episode', trigger_steps: { last: {}, closed: {} } }],
  ])('%s needs workflow:write', async (_what, params) => {
    expect((await refusalOf(start(params))).slice(0, 2)).toEqual([403, 'insufficient_scope']);
    expect(await start(params, allScopes)).toMatchObject({ status: 'running' });
  });

  test.each(['ask', 'check', 'gate', 'closed'])('an episode from %s skips none of them', async entry => {
    expect(await start({ mode: 'episode', trigger_steps: { [entry]: {} } })).toMatchObject({ status: 'running' });
  });
});

test('workflow:write still allows overrides of every other field', async () => {
  const trigger_steps = { closed: { script: 'return 2', disabled: true, timeout_s: 9 }, gate: { gated: false } };
  expect(await start({ trigger_steps }, allScopes)).toMatchObject({ status: 'running' });
});

test('a run that calls tools or models requires their scopes, whatever is overridden', async () => {
  const params = overriding('open', { timeout_s: 6 });
  const without = (scope: Scope) => runScopes.filter(each => each !== scope);
  for (const scope of ['mcp:execute', 'ai:use'] as const) {
    expect((await refusalOf(start(params, without(scope)))).slice(0, 2)).toEqual([403, 'insufficient_scope']);
  }
});

describe('what the author saved in the run setup', () => {
  const saved = { closed: { script: 'return 3', timeout_s: 9 } };
  const withSetup = () => publishGraph(service.services, tenant.owner, graph, { trigger_steps: saved });

  test('requires only workflow:run, but further changes require more', async () => {
    const id = await withSetup();
    expect(await start({ use_run_setup_defaults: true }, runScopes, id)).toMatchObject({ status: 'running' });
    expect(await start({ trigger_steps: saved }, runScopes, id)).toMatchObject({ status: 'running' });
    const mixed = { use_run_setup_defaults: true, ...overriding('closed', { timeout_s: 10 }) };
    expect(await refusalOf(start(mixed, runScopes, id))).toEqual([
      403,
      'insufficient_scope',
      'params.trigger_steps.closed.timeout_s',
    ]);
  });
});

describe('a rerun', () => {
  const endedRun = async (params: JsonMap) => {
    const id = await publishGraph(service.services, tenant.owner, {
      steps: [
        { id: 'first', type: 'lua_script', script: 'return 1', overridable: ['timeout_s'] },
        { id: 'fails', type: 'lua_script', script: 'error("no")', depends_on: ['first'] },
        { id: 'ask', type: 'human_task', depends_on: ['fails'] },
        { id: 'after', type: 'lua_script', script: 'return 1', depends_on: ['ask'] },
      ],
    });
    const { run_id } = await start(params, allScopes, id);
    const ref = { id, runID: run_id };
    await reached(service.services, tenant.owner, ref);
    return ref;
  };

  test('requires the same scope as the overrides of the run', async () => {
    const ref = await endedRun(overriding('first', { script: 'return 2' }));
    const refused = await refusalOf(tokenOf(runScopes).then(ctx => call(rerun, ctx, ref)));
    expect(refused).toEqual([403, 'insufficient_scope', 'trigger_steps.first.script']);
    expect(await call(rerun, await tokenOf(allScopes), ref)).toMatchObject({ status: 'running' });
    const opened = await endedRun(overriding('first', { timeout_s: 6 }));
    expect(await call(rerun, await tokenOf(runScopes), opened)).toMatchObject({ status: 'running' });
  });

  test('starts only at a step that the run reached, unless the token may write', async () => {
    const ref = await endedRun({});
    for (const from_step of ['ask', 'after']) {
      const refused = await refusalOf(tokenOf(runScopes).then(ctx => call(rerun, ctx, { ...ref, from_step })));
      expect(refused).toEqual([403, 'insufficient_scope', 'from_step']);
    }
    expect(await call(rerun, await tokenOf(runScopes), { ...ref, from_step: 'fails' })).toMatchObject({
      status: 'running',
    });
    expect(await call(rerun, await tokenOf(allScopes), { ...ref, from_step: 'after' })).toMatchObject({
      status: 'running',
    });
  });
});
