import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptInput } from '../../../../bin/fake-model/script.ts';
import type { JsonMap } from '../../../orchestrator/core/index.ts';
import { type ChatService, saidIn, startChatService } from '../../../testing/chat.ts';
import { startHttpServer, type TestHttpServer } from '../../../testing/http-server.ts';
import { createTestMember, withScopes } from '../../../testing/identity.ts';
import { luaStep, refusal } from '../../../testing/workflows.ts';

/** Tests attacks by the model itself, which has read private data and tries to send it out (docs/security.md#agents). */
let chat: ChatService;
let collector: TestHttpServer;
let instance_id: string;
/** The questions that the tool `find` has received. */
let looked: string[] = [];

const lookUp = (server: McpServer) =>
  server.registerTool(
    'find',
    { inputSchema: z.strictObject({ q: z.string() }), annotations: { readOnlyHint: true, openWorldHint: true } },
    ({ q }) => {
      looked.push(q);
      return { content: [{ type: 'text', text: '{"found":0}' }] };
    },
  );

beforeAll(async () => {
  chat = await startChatService();
  collector = await startHttpServer({ '/collect': (_, response) => response.end('{}') });
  instance_id = await chat.serveTools(server => void lookUp(server));
  const item = { subject: 'safe', text: 'The code of the safe is 7731.' };
  await chat.act('memory_propose_items', { items: [item], remember: true });
});
afterAll(async () => {
  await chat.close();
  await collector.close();
});
beforeEach(() => {
  chat.fake.requests.length = 0;
  collector.seen.length = 0;
  looked = [];
});

type Content = Extract<NonNullable<ScriptInput['answers']>[number], { content: unknown }>['content'][number];
type Proposal = { id: string; etag: string; written_after_reading: string | null; status: string; rounds: number };
type Trial = { verdict: string | null; stand_ins: { step: string; why: string; hosts: string[] | null }[] };
const calls = (name: string, args: JsonMap): Content => ({ calls: [{ name, arguments: args }] });
const script = (...contents: Content[]) =>
  chat.fake.script({ answers: contents.map(content => ({ content: [content] })) });
const address = (d: string) => `${collector.url}/collect?d=${d}`;
const get = (d: string): JsonMap => ({ id: 'get', type: 'http_request', url: address(d), on_error: 'continue' });
const find = (q: string): JsonMap => ({
  id: 'find',
  type: 'mcp_call',
  instance_id,
  tool_name: 'find',
  tool_args: { q },
});
const add = (...steps: JsonMap[]): JsonMap[] => steps.map(step => ({ type: 'add_step', step }));
const checks = [{ step: 'get', op: 'completed' }];
const propose = (edits: JsonMap[]) => calls('autopilot_propose', { title: 'Collected', edits });
const tryIt = calls('autopilot_try_proposal', { id: '{{last.id}}', checks });

async function sendMessage(text: string, more: JsonMap = {}, by = chat.acme.owner) {
  const sent = await chat.act('autopilot_chat', { text, ...more }, by);
  const messages = await chat.settled(String(sent.thread_id), by);
  return { thread_id: String(sent.thread_id), run_id: sent.run_id, messages };
}
const newest = async () => {
  const { proposals } = await chat.act('autopilot_list_proposals', { limit: 1 });
  const [head] = proposals as unknown as Proposal[];
  return (await chat.act('autopilot_get_proposal', { id: String(head?.id) })) as unknown as Proposal;
};
const trialOf = async (id: string) => {
  const readTrial = async () => (await chat.act('autopilot_get_trial', { id })) as unknown as Trial;
  await expect.poll(async () => (await readTrial()).verdict).not.toBeNull();
  return readTrial();
};
/** Returns each request that has reached the collector or the tool. */
const requestsMade = () => [...collector.seen.map(({ path }) => path), ...looked];

describe('a proposal cannot carry data out', () => {
  test.each<[string, Content[], JsonMap]>([
    ['memory_search', [calls('memory_search', { query: 'safe' })], {}],
    ['workflows_list', [calls('workflows_list', {})], {}],
    ['runs_list_tenant', [calls('runs_list_tenant', {})], {}],
    ['autopilot_find_tools', [calls('autopilot_find_tools', {})], {}],
    ['unknown_name', [calls('unknown_name', {})], {}],
    ['memory', [], { text: 'What is the code of the safe?' }],
  ])('that the model has read by %s: reads of it stand in', async (reading, reads, { text = 'Build something' }) => {
    script(...reads, propose(add(get('7731'), find('7731'))), tryIt, { text: 'Tried.' });
    await sendMessage(String(text));
    const proposal = await newest();
    expect(proposal.written_after_reading).toBe(reading);
    const trial = await trialOf(proposal.id);
    expect(trial).toMatchObject({ verdict: 'simulated' });
    expect(trial.stand_ins.map(({ step, why }) => [step, why])).toEqual([
      ['get', 'unseen'],
      ['find', 'unseen'],
    ]);
    expect(requestsMade()).toEqual([]);
    // A trial by a person does not send the request either, because the person has not seen its contents.
    await chat.act('autopilot_try_proposal', { id: proposal.id, checks });
    await trialOf(proposal.id);
    expect(requestsMade()).toEqual([]);
  });

  test('that an earlier answer of the conversation has read, or that is in the context of the message', async () => {
    script(calls('memory_search', { query: 'safe' }), { text: 'It is 7731.' });
    const { thread_id } = await sendMessage('Look it up');
    script(propose(add(get('7731'))), tryIt, { text: 'Tried.' });
    await sendMessage('Build something', { thread_id });
    expect((await newest()).written_after_reading).toBe('memory_search');
    const { id: workflow_id } = await chat.act('workflows_create', {
      name: 'Code 7731',
      graph: { steps: [luaStep('a', 'return 1')] },
    });
    script(propose(add(get('7731'))), tryIt, { text: 'Tried.' });
    await sendMessage('Build something', { context: { workflow_id } });
    expect((await newest()).written_after_reading).toBe('context');
    const changing = { workflow_id, title: 'Changed', edits: add(get('7731')) };
    script(calls('autopilot_propose', changing), tryIt, { text: 'Tried.' });
    await sendMessage('Change something');
    const proposal = await newest();
    expect(proposal.written_after_reading).toBe('workflow');
    await trialOf(proposal.id);
    expect(requestsMade()).toEqual([]);
  });

  test("by an edit of a person's proposal, or by the input of its trial", async () => {
    const templated = { ...find('{{input.q}}'), id: 'get' };
    const { id } = await chat.act('autopilot_propose', { title: 'Mine', edits: add(templated) });
    const input = { q: '7731' };
    script(calls('memory_search', { query: 'safe' }), calls('autopilot_try_proposal', { id, checks, input }), {
      text: 'Ok',
    });
    await sendMessage('Try it');
    expect((await trialOf(id)).stand_ins).toMatchObject([{ step: 'get', why: 'unseen' }]);
    expect(requestsMade()).toEqual([]);
    // The same trial by a person sends the request, because a person wrote all of it.
    await chat.act('autopilot_try_proposal', { id, checks, input: { q: 'pens' } });
    await trialOf(id);
    expect(requestsMade()).toEqual(['pens']);
    const set = { type: 'update_step', step: 'get', set: { tool_args: { q: '7731' } } };
    script(calls('memory_search', { query: 'safe' }), calls('autopilot_edit_proposal', { id, edits: [set] }), {
      text: 'Ok',
    });
    await sendMessage('Edit it');
    await chat.act('autopilot_try_proposal', { id, checks });
    expect((await trialOf(id)).stand_ins).toMatchObject([{ why: 'unseen' }]);
    expect(requestsMade()).toEqual(['pens']);
  });

  test('but a model that knows only the words of the person may send requests that read', async () => {
    script(calls('autopilot_describe_step_types', {}), propose(add(get('said'))), tryIt, { text: 'Tried.' });
    await sendMessage('Read that address');
    const proposal = await newest();
    expect(proposal.written_after_reading).toBeNull();
    expect(await trialOf(proposal.id)).toMatchObject({ verdict: 'proven', stand_ins: [] });
    expect(requestsMade()).toEqual(['/collect?d=said']);
  });

  test('unless a person has seen the exact request and has named its host', async () => {
    script(
      calls('memory_search', { query: 'safe' }),
      propose(add(get('7731'), { ...find('{{steps.get.result.status}}'), depends_on: ['get'] })),
      tryIt,
      {
        text: 'Tried.',
      },
    );
    const { thread_id } = await sendMessage('Build something');
    const { id, etag } = await newest();
    await trialOf(id);
    const host = new URL(collector.url).host;
    const tryLive = (more: JsonMap) =>
      chat.act('autopilot_try_live', { id, etag, really: ['get'], budget_credits: 5, checks, ...more });
    const unnamed = await refusal(tryLive({}));
    expect(unnamed).toMatchObject({ status: 422, code: 'host_not_named', details: [{ path: 'hosts' }] });
    expect(unnamed.details?.[0]?.message).toContain(host);
    expect(await refusal(tryLive({ hosts: ['example.com'] }))).toMatchObject({ code: 'host_not_named' });
    expect(requestsMade()).toEqual([]);
    expect(await tryLive({ hosts: [host] })).toMatchObject({
      live: { really: ['get'], executed: [{ hosts: [host] }] },
    });
    await trialOf(id);
    expect(requestsMade()).toEqual(['/collect?d=7731']);
    // Later trials send the request that a person has seen, but no other request and none with data of the run.
    script(calls('autopilot_try_proposal', { id, checks }), { text: 'Tried.' });
    await sendMessage('Once more', { thread_id });
    expect((await trialOf(id)).stand_ins.map(({ step }) => step)).toEqual(['find']);
    expect(requestsMade()).toEqual(['/collect?d=7731', '/collect?d=7731']);
    const edits = [{ type: 'update_step', step: 'get', set: { url: address('7732') } }];
    script(calls('autopilot_edit_proposal', { id, edits }), calls('autopilot_try_proposal', { id, checks }), {
      text: 'Ok',
    });
    await sendMessage('And that one', { thread_id });
    expect((await trialOf(id)).stand_ins.map(({ step }) => step)).toEqual(['get', 'find']);
    expect(requestsMade()).toHaveLength(2);
  });

  test('to a host that only the run decides, even in a live trial', async () => {
    const anywhere = { ...get(''), url: '{{input.address}}' };
    const { id, etag } = await chat.act('autopilot_propose', { title: 'Anywhere', edits: add(anywhere) });
    await chat.act('autopilot_try_proposal', { id, checks, input: { address: address('7731') } });
    const { stand_ins } = await trialOf(id);
    expect(stand_ins).toMatchObject([{ step: 'get', hosts: null }]);
    const liveTrial = { id, etag, really: ['get'], hosts: [new URL(collector.url).host], budget_credits: 5, checks };
    expect(await refusal(chat.act('autopilot_try_live', liveTrial))).toMatchObject({
      status: 422,
      code: 'host_unknown',
    });
    expect(requestsMade()).toEqual([]);
  });

  test('through a contributor who tries the proposal of a viewer', async () => {
    const viewer = await createTestMember(
      chat.service.container.services,
      chat.acme,
      'project_viewer',
      'w@example.com',
    );
    const { id } = await chat.act('autopilot_propose', { title: 'Theirs', edits: add(get('7731')) }, viewer);
    await chat.act('autopilot_try_proposal', { id, checks });
    expect((await trialOf(id)).stand_ins).toMatchObject([{ step: 'get', why: 'sends' }]);
    expect(requestsMade()).toEqual([]);
  });

  test('by an assistant over MCP, which cannot start a live trial', async () => {
    const callTool = async (name: string, args: JsonMap) => {
      const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
      const response = await fetch(`${chat.service.url}/mcp`, {
        method: 'POST',
        headers: {
          Authorization: `Bearer ${chat.token}`,
          'Content-Type': 'application/json',
          Accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify(body),
      });
      return response.text();
    };
    await callTool('autopilot_propose', { title: 'Over MCP', edits: add(get('7731'), find('7731')) });
    const { id, etag, written_after_reading } = await newest();
    expect(written_after_reading).toBe('unknown');
    await callTool('autopilot_try_proposal', { id, checks });
    expect((await trialOf(id)).stand_ins.map(({ why }) => why)).toEqual(['unseen', 'unseen']);
    const liveTrial = { id, etag, really: ['get'], hosts: [new URL(collector.url).host], budget_credits: 5, checks };
    expect(await callTool('autopilot_try_live', liveTrial)).toContain('person_needed');
    expect(requestsMade()).toEqual([]);
  });

  test('in any order of reading, proposing, editing and trying', async () => {
    const harmless = fc.constant(calls('autopilot_describe_step_types', {}));
    const reading = fc.constantFrom(
      calls('memory_search', { query: 'safe' }),
      calls('agents_list', {}),
      calls('autopilot_list_proposals', {}),
    );
    const move = fc.oneof(
      harmless.map(content => ({ content, reads: false })),
      reading.map(content => ({ content, reads: true })),
    );
    let sent = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(move, { maxLength: 3 }), fc.boolean(), async (moves, isRead) => {
        collector.seen.length = 0;
        const request = isRead ? get('7731') : { ...get('7731'), method: 'POST' };
        script(...moves.map(({ content }) => content), propose(add(request)), tryIt, { text: 'Done.' });
        await sendMessage('Build something');
        await trialOf((await newest()).id);
        const mayLeave = isRead && moves.every(({ reads }) => !reads);
        expect(collector.seen.length > 0).toBe(mayLeave);
        sent += collector.seen.length;
      }),
      { numRuns: 10, examples: [[[], true]] },
    );
    expect(sent).toBeGreaterThan(0);
  });
});

describe('a conversation', () => {
  test('needs ai:use and workflow:read, and not the right to call tools', async () => {
    const token = (...scopes: Parameters<typeof withScopes>[1][]) => withScopes(chat.acme.owner, ...scopes);
    script({ text: 'Hello.' }, { text: 'Hello again.' });
    const by = token('ai:use', 'workflow:read');
    const { thread_id, messages } = await sendMessage('Hello', {}, by);
    expect(saidIn(messages.at(-1))).toBe('Hello.');
    await chat.act('chat_send_message', { id: thread_id, text: 'Hello?' }, by);
    expect(saidIn((await chat.settled(thread_id, by)).at(-1))).toBe('Hello again.');
    for (const few of [token('ai:use'), token('workflow:read'), token('ai:use', 'mcp:execute')]) {
      const refused = await refusal(chat.act('autopilot_chat', { text: 'Hello' }, few));
      expect(refused).toMatchObject({ status: 403, code: 'insufficient_scope' });
    }
  });

  test('is refused if its context names a step that does not exist', async () => {
    const loop = { id: 'each', type: 'for_each', items: '{{input.list}}', steps: [luaStep('inner', 'return 1')] };
    const graph = { steps: [luaStep('one', 'error("no")'), loop] };
    const { id: workflow_id } = await chat.act('workflows_create', { name: 'Steps', graph });
    await chat.act('workflows_publish_version', { id: workflow_id });
    const { run_id } = await chat.act('workflows_execute_command', {
      id: workflow_id,
      command: 'start',
      params: { list: [] },
    });
    const about = (context: object) =>
      chat.act('autopilot_chat', { text: 'Explain', context: { workflow_id, ...context } });
    for (const context of [
      { step_id: 'nobody' },
      { run_id, step_id: 'nobody' },
      { run_id, step_id: 'one.1' },
      { step_id: 'one.1' },
    ]) {
      const refused = await refusal(about(context));
      expect(refused).toMatchObject({ status: 422, code: 'unknown_step', details: [{ path: 'context.step_id' }] });
    }
    for (const context of [{ step_id: 'one' }, { step_id: 'inner' }, { run_id, step_id: 'one' }]) {
      script({ text: 'It is a step.' });
      const { thread_id } = await about(context);
      await chat.settled(String(thread_id));
    }
  });
});
