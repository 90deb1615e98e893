import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { type ChatService, startChatService } from '../../testing/chat.ts';
import { createTestMember, createTestTenant } from '../../testing/identity.ts';

function configure(server: McpServer): void {
  server.registerTool(
    'refund',
    { description: 'Pays back. '.repeat(40), inputSchema: z.strictObject({ order: z.string() }) },
    () => ({ content: [] }),
  );
  server.registerTool('find', { title: 'Find an order', annotations: { readOnlyHint: true } }, () => ({ content: [] }));
}

let chat: ChatService;
let instance: string;
beforeAll(async () => {
  chat = await startChatService();
  instance = await chat.serveTools(configure);
});
afterAll(() => chat.close());

const find = async (input: object = {}, by = chat.acme.owner) =>
  (await chat.act('autopilot_find_tools', input, by)) as unknown as {
    tools: Record<string, unknown>[];
    next_cursor: string | null;
  };

test('lists all tools in short, and describes one tool in full', async () => {
  const { tools: listed } = await find();
  const server = { id: expect.any(String), name: 'Tools' };
  const instances = [{ id: instance, name: 'Tools' }];
  expect(listed).toEqual([
    { name: 'find', title: 'Find an order', description: null, read_only: true, server, instances },
    { name: 'refund', title: null, description: expect.any(String), read_only: false, server, instances },
  ]);
  expect(listed[1]?.description).toMatch(/^(Pays back\. ){18}Pa…$/);
  const { tools: described } = await find({ tool: 'refund' });
  expect(described).toHaveLength(1);
  expect(described[0]).toMatchObject({
    description: expect.stringMatching(/^(Pays back\. ?){40}$/),
    input_schema: { properties: { order: { type: 'string' } } },
    output_schema: null,
  });
  expect(await find({ tool: 'ref%' })).toEqual({ tools: [], next_cursor: null });
  expect((await find({ q: 'an order' })).tools).toMatchObject([{ name: 'find' }]);
  const first = await find({ limit: 1 });
  expect((await find({ limit: 1, cursor: first.next_cursor })).tools).toMatchObject([{ name: 'refund' }]);
});

test('viewers find the tools of their workspace only', async () => {
  const { services } = chat.service.container;
  const viewer = await createTestMember(services, chat.acme, 'project_viewer', 'viewer@example.com');
  expect((await find({}, viewer)).tools).toHaveLength(2);
  const { owner } = await createTestTenant(services, { slug: 'rival' });
  expect((await find({}, owner)).tools).toEqual([]);
});
