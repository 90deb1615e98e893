import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createInstance } from '../../../server/domains/mcp-servers/instances/create.ts';
import { createServer } from '../../../server/domains/mcp-servers/servers/create.ts';
import { discoverServer } from '../../../server/domains/mcp-servers/servers/discover.ts';
import { publishServer } from '../../../server/domains/mcp-servers/servers/publish.ts';
import { createModelKey } from '../../../server/domains/models/keys.ts';
import { getSummary } from '../../../server/domains/runs/reading/summary.ts';
import { executeCommand } from '../../../server/domains/runs/start/command.ts';
import { getContext } from '../../../server/domains/runs/values/context.ts';
import { settled } from '../../../server/domains/seed/settled.ts';
import { completeTask } from '../../../server/domains/tasks/complete.ts';
import { listPending } from '../../../server/domains/tasks/list-pending.ts';
import { listPendingOfRun } from '../../../server/domains/tasks/list-run.ts';
import { createWorkflow } from '../../../server/domains/workflows/create.ts';
import { publish } from '../../../server/domains/workflows/publish.ts';
import { validate } from '../../../server/domains/workflows/validate.ts';
import type { Context } from '../../../server/operation/context.ts';
import type { JsonMap } from '../../../server/orchestrator/core/index.ts';
import { startTestContainer, type TestContainer } from '../../../server/testing/container.ts';
import { startHttpServer, type TestHttpServer } from '../../../server/testing/http-server.ts';
import { createTestTenant } from '../../../server/testing/identity.ts';
import { type ModelServer, startModelServer } from '../../../server/testing/model-server.ts';
import { contextFor } from '../../../server/testing/workflows.ts';
import { templates } from './index.ts';
import { graphOf, sampleInputOf, searchTemplates, type Template } from './template.ts';

let service: TestContainer;
let web: TestHttpServer;
let models: ModelServer;
let ctx: Context;
let instanceId: string;
const model = 'openai_compatible/tiny';

beforeAll(async () => {
  service = await startTestContainer({ BATON_DEMO_MCP: 'true', BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32' });
  web = await startHttpServer({
    '/up': (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('ok'),
    '/down': (_, response) => void response.writeHead(404, { 'content-type': 'text/plain' }).end('gone'),
    '/sales': (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('[{"region":"North","amount":10.5},{"region":"South","amount":2},{"region":"North","amount":1}]'),
    '/chat': (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('ok'),
    '/tickets': (_, response) =>
      void response.writeHead(201, { 'content-type': 'application/json' }).end('{"number":"T-1"}'),
  });
  models = await startModelServer();
  const { owner } = await createTestTenant(service.container.services, { slug: 'main' });
  ctx = contextFor(service.container.services, owner);
  const demo = { name: 'Demo', canonical_url: `${service.url}/demo/mcp`, mode: 'platform', auth_mode: 'none' } as const;
  const server = await createServer(ctx, demo);
  await discoverServer(ctx, { id: server.id });
  await publishServer(ctx, { id: server.id, changelog: 'First' });
  instanceId = (await createInstance(ctx, { server_id: server.id, name: 'Demo', config: {} })).id;
  const key = { name: 'Local', provider: 'openai_compatible', api_key: 'k' } as const;
  await createModelKey(ctx, { ...key, models: ['tiny'], base_url: `${models.url}/v1` });
});
afterAll(async () => {
  await service.close();
  await web.close();
  await models.close();
});

type Answer = { approved: boolean; result?: JsonMap };

type Draft = { name: string; graph: Template['graph'] };

/** Creates, validates and publishes a workflow; returns its id. */
async function createPublished({ name, graph }: Draft): Promise<string> {
  const { id } = await createWorkflow(ctx, { name, graph });
  expect(await validate(ctx, { id })).toEqual({ valid: true, errors: [], warnings: [] });
  await publish(ctx, { id, changelog: 'First' });
  return id;
}

async function start(id: string, input: JsonMap) {
  const { run_id } = await executeCommand(ctx, { id, command: 'start', params: { trigger_payload: input } });
  return { id, runID: run_id };
}

function templateOf(slug: string): Template {
  const template = templates.find(each => each.slug === slug);
  if (template === undefined) throw new Error(`There is no template ${slug}.`);
  return template;
}

/** Creates, validates, publishes and runs a template to its end; each task gets the next answer. Returns the output. */
async function run(slug: string, input: JsonMap, answers: Answer[] = []): Promise<unknown> {
  const template = templateOf(slug);
  const id = await createPublished({ name: template.name, graph: graphOf(template, { instanceId, model }) });
  const ref = await start(id, input);
  const remaining = [...answers];
  for (;;) {
    await settled(ctx, ref, remaining.length > 0 ? ['blocked'] : ['complete']);
    if (remaining.length === 0) break;
    const { tasks } = await listPendingOfRun(ctx, { ...ref, limit: 200 });
    for (const { task_id } of tasks) {
      const answer = remaining.shift();
      if (answer === undefined) throw new Error(`${slug} asks more often than expected.`);
      await completeTask(ctx, { ...ref, task_id, ...answer });
    }
  }
  return (await getContext(ctx, ref)).output;
}

/** Starts the workflow that ships orders, answers the task of the large order, and returns the output. */
async function shipWithAnswer(
  workflow: { id: string; childId: string },
  input: JsonMap,
  answer: Answer,
): Promise<unknown> {
  const ref = await start(workflow.id, input);
  const pendingTasks = async () => (await listPending(ctx, { workflow_id: workflow.childId, limit: 10 })).tasks;
  await expect.poll(pendingTasks).toMatchObject([{ name: 'Approve a large order' }]);
  const [task] = await pendingTasks();
  if (task === undefined) throw new Error('Nobody is asked.');
  await completeTask(ctx, { id: workflow.childId, runID: task.run_id, task_id: task.task_id, ...answer });
  await settled(ctx, ref, ['complete']);
  return (await getContext(ctx, ref)).output;
}

/** Answers the task of the failure handler, which starts automatically, and returns its output. */
async function answerFailureTask(handler: string): Promise<unknown> {
  const pendingTasks = async () => (await listPending(ctx, { workflow_id: handler, limit: 10 })).tasks;
  await expect.poll(pendingTasks).toMatchObject([{ name: 'Look into failed shipping' }]);
  const [task] = await pendingTasks();
  if (task === undefined) throw new Error('Nobody is asked.');
  expect(task.instructions).toContain('**Ship orders** failed in its step `orders`');
  const ref = { id: handler, runID: task.run_id };
  await completeTask(ctx, {
    ...ref,
    task_id: task.task_id,
    approved: true,
    result: { note: 'The address was wrong.' },
  });
  await settled(ctx, ref, ['complete']);
  return (await getContext(ctx, ref)).output;
}

const sampleOf = (slug: string) => templateOf(slug).sampleInput as JsonMap;

describe('each template runs to its end', () => {
  test('purchase-approval', async () => {
    const input = sampleOf('purchase-approval');
    const approved = { ordered: true, decided_by: ctx.principal.email };
    expect(await run('purchase-approval', input, [{ approved: true }])).toEqual(approved);
    const rejected = [{ approved: false, result: { comment: 'Next year.' } }];
    expect(await run('purchase-approval', input, rejected)).toMatchObject({ ordered: false, comment: 'Next year.' });
    expect(await run('purchase-approval', { ...input, amount: 500 })).toEqual({
      ordered: true,
      decided_by: 'the limit',
    });
  });

  test('incident-escalation', async () => {
    const input = sampleOf('incident-escalation');
    expect(await run('incident-escalation', input, [{ approved: true }])).toMatchObject({
      taken: true,
      escalated: false,
    });
    const answers = [{ approved: false }, { approved: true, result: { note: 'On it.' } }];
    expect(await run('incident-escalation', input, answers)).toEqual({
      taken: true,
      by: ctx.principal.email,
      escalated: true,
      note: 'On it.',
    });
  });

  test('onboarding-checklist', async () => {
    const answers = [{ approved: true }, { approved: true }, { approved: false }];
    const output = await run('onboarding-checklist', sampleOf('onboarding-checklist'), answers);
    expect(output).toEqual({ done: 2, not_done: [expect.any(String)] });
  });

  test('trial-follow-up', async () => {
    const input = { ...sampleOf('trial-follow-up'), wait_days: 0 };
    const output = await run('trial-follow-up', input, [{ approved: true, result: { outcome: 'buys' } }]);
    expect(output).toEqual({ customer: 'Lindgren & Co', outcome: 'buys' });
  });

  test('contact-cleanup', async () => {
    expect(await run('contact-cleanup', sampleOf('contact-cleanup'))).toEqual({
      contacts: [{ name: 'Ada', email: 'ada@example.com' }],
      refused: [
        { name: 'Ada L.', email: 'ada@example.com', why: 'is there twice' },
        { name: 'Charles', email: 'unknown', why: 'no email address' },
      ],
    });
  });

  test('uptime-check', async () => {
    expect(await run('uptime-check', { urls: [`${web.url}/up`] })).toEqual({ checked: 1, down: [] });
    const urls = [`${web.url}/up`, `${web.url}/down`];
    expect(await run('uptime-check', { urls }, [{ approved: true }])).toMatchObject({
      checked: 2,
      down: [{ url: `${web.url}/down`, up: false, problem: expect.stringContaining('404') }],
    });
  });

  test('nightly-report', async () => {
    const output = await run('nightly-report', { sales_url: `${web.url}/sales`, chat_url: `${web.url}/chat` });
    const text = 'Sales: 13.50\n- North: 11.50\n- South: 2.00';
    expect(output).toEqual({ total: 13.5, text });
    const posted = web.seen.filter(({ path }) => path === '/chat').map(({ body }) => JSON.parse(body));
    expect(posted).toEqual([{ text }]);
  });

  test('ship-orders, in runs of the workflow that is created with it', async () => {
    const template = templateOf('ship-orders');
    if (template.child === undefined || template.handler === undefined) throw new Error('It has no partners.');
    const childId = await createPublished(template.child);
    const handler = await createPublished(template.handler);
    const partners = { child: childId, handler };
    const id = await createPublished({
      name: template.name,
      graph: graphOf(template, { instanceId, model, partners }),
    });
    const input = { ...sampleInputOf(template, `${service.url}/demo/api`), grace_s: 0 } as JsonMap;
    const failed = [{ order: '1004', reason: expect.stringContaining('Order 1004 has no delivery address.') }];
    expect(await shipWithAnswer({ id, childId }, input, { approved: true })).toEqual({
      summary: '5 shipped (2534.40), 0 held back, 1 failed',
      shipped: ['1001', '1002', '1003', '1005', '1006'],
      held: [],
      failed,
    });
    expect(
      await shipWithAnswer({ id, childId }, input, { approved: false, result: { comment: 'Next week.' } }),
    ).toEqual({
      summary: '4 shipped (694.40), 1 held back, 1 failed',
      shipped: ['1001', '1002', '1005', '1006'],
      held: [{ order: '1003', reason: 'Next week.' }],
      failed,
    });
    const none = await start(id, { ...input, api_url: `${service.url}/demo` });
    await settled(ctx, none, ['complete']);
    expect((await getSummary(ctx, none)).status).toBe('failed');
    expect(await answerFailureTask(handler)).toEqual({ handled: true, note: 'The address was wrong.' });
  });

  test('webhook-to-ticket', async () => {
    const input = { ...sampleOf('webhook-to-ticket'), ticket_url: `${web.url}/tickets` };
    expect(await run('webhook-to-ticket', input)).toEqual({ ticket: { number: 'T-1' } });
    expect(await run('webhook-to-ticket', { ...input, action: 'closed' })).toEqual({ ticket: null });
    const posted = web.seen.filter(({ path }) => path === '/tickets').map(({ body }) => JSON.parse(body));
    expect(posted).toEqual([
      { title: 'The export is empty', text: 'Since today.', link: 'https://github.com/acme/shop/issues/7' },
    ]);
  });

  test('feed-digest', async () => {
    expect(await run('feed-digest', sampleOf('feed-digest'))).toEqual({
      count: 2,
      text: expect.stringMatching(/^## News\n- \[Release 4\.2\]\(https:.*\n- \[Release 4\.1\]/),
    });
    expect(await run('feed-digest', {})).toMatchObject({ count: 5 });
  });

  test('message-triage', async () => {
    const input = sampleOf('message-triage');
    models.reply({ text: '{"category":"billing","urgent":true,"summary":"Charged twice."}' });
    expect(await run('message-triage', input, [{ approved: true }])).toEqual({
      category: 'billing',
      urgent: true,
      answered_by: ctx.principal.email,
    });
    models.reply({ text: '{"category":"other","urgent":false,"summary":"Thanks."}' });
    expect(await run('message-triage', input)).toEqual({ category: 'other', urgent: false, answered_by: null });
  });
});

test('each has its own file, a name, a sentence and a fitting input', () => {
  const files = readdirSync(import.meta.dirname).filter(file => !/^(index|template|.*\.test)\.ts$/.test(file));
  expect(templates.map(({ slug }) => `${slug}.ts`).sort()).toEqual(files.sort());
  expect(templates).toHaveLength(11);
  for (const { slug, name, sentence, sampleInput, graph } of templates) {
    expect([slug, name.length <= 40, /^[A-Z].{20,110}\.$/.test(sentence)]).toEqual([slug, true, true]);
    const { properties = {}, required = [] } = graph.input_schema as { properties?: object; required?: string[] };
    expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(sampleInput)));
    expect(Object.keys(sampleInput)).toEqual(expect.arrayContaining(required));
  }
});

test('an input names the demo API, or an address to replace if there is none', () => {
  const template = templateOf('ship-orders');
  expect(sampleInputOf(template, 'http://own/demo/api')).toMatchObject({ api_url: 'http://own/demo/api' });
  expect(sampleInputOf(template, null)).toMatchObject({ api_url: 'https://api.example.com' });
});

test('the search finds every word in name, sentence and needs', () => {
  const matchingSlugs = (text: string) => searchTemplates(templates, text).map(({ slug }) => slug);
  expect(matchingSlugs('')).toHaveLength(11);
  expect(matchingSlugs('mcp FEED')).toEqual(['feed-digest']);
  expect(matchingSlugs('model key')).toEqual(['message-triage']);
  expect(matchingSlugs('nothing like this')).toEqual([]);
});
