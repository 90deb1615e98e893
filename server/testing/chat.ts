import { expect } from 'vitest';
import { type FakeModel, startFakeModel } from '../../bin/fake-model/server.ts';
import { operations } from '../api/operations.ts';
import type { Principal } from '../operation/context.ts';
import { scopes } from '../orchestrator/ports/authority.ts';
import { createCall } from './call.ts';
import { startTestContainer, type TestContainer } from './container.ts';
import { createTestPat, createTestTenant, type TestTenant } from './identity.ts';
import { startSdkServer, type TestServer } from './mcp-server.ts';

export const CHAT_MODEL = 'openai_compatible/scripted';
type Configure = Parameters<typeof startSdkServer>[0]['configure'];
type Name = (typeof operations)[number]['name'];
type Part = { type: string; text?: string; state?: string; toolName?: string };
export type ChatMessage = {
  id: string;
  role: string;
  parts: Part[];
  metadata: {
    parent_id: string | null;
    status: string;
    run_id: string | null;
    error: { code: string; message: string } | null;
    sent_by: string;
  };
};
/** The fields of operations' answers that tests read. */
type Answer = { id: string; run_id: string; workflow_id: string; head_id: string | null } & {
  messages: ChatMessage[];
  threads: { id: string }[];
} & Record<string, unknown>;

/** The whole service with a scripted model and a workspace that has a key for it. */
export type ChatService = {
  service: TestContainer;
  fake: FakeModel;
  acme: TestTenant;
  /** The owner's token. */
  token: string;
  act(name: Name, input?: object, by?: Principal): Promise<Answer>;
  /** Publishes the MCP server at that address; returns the id of an instance of it. */
  instanceOf(url: string): Promise<string>;
  /** Starts an MCP server with these tools until `close`, and publishes it; returns the id of an instance of it. */
  serveTools(configure: Configure): Promise<string>;
  /** Creates a thread; returns its id. */
  thread(input?: object, by?: Principal): Promise<string>;
  /** Returns the last 200 messages. */
  messages(id: string, by?: Principal): Promise<ChatMessage[]>;
  /** Waits until no answer is being written, and returns the messages. */
  settled(id: string, by?: Principal): Promise<ChatMessage[]>;
  close(): Promise<void>;
};

export async function startChatService(
  env: Record<string, string> = {},
  given: Parameters<typeof startTestContainer>[1] = {},
): Promise<ChatService> {
  const fake = await startFakeModel();
  const own = { BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1/32', BATON_SHUTDOWN_GRACE_S: '0' };
  const service = await startTestContainer({ ...own, ...env }, given);
  const { services } = service.container;
  const acme = await createTestTenant(services, { slug: 'acme' });
  const { token } = await createTestPat(services, acme.owner, scopes);
  const call = createCall(services, operations);
  const act = async (name: Name, input: object = {}, by: Principal = acme.owner) =>
    (await call(by, name, input)) as Answer;
  const key = { provider: 'openai_compatible', base_url: fake.url, models: ['scripted'] };
  await act('llm_provider_keys_create', key);
  const messages = async (id: string, by?: Principal) =>
    (await act('chat_list_messages', { id, limit: 200, order: 'desc' }, by)).messages.toReversed();
  const isOpen = ({ metadata: { status } }: ChatMessage) => status === 'queued' || status === 'running';
  const instanceOf = async (url: string) => {
    const server = await act('mcp_servers_create', { name: 'Tools', canonical_url: url, auth_mode: 'none' });
    await act('mcp_servers_discover', { id: server.id });
    await act('mcp_servers_publish_version', { id: server.id });
    return (await act('mcp_instances_create', { server_id: server.id, name: 'Tools' })).id;
  };
  const toolServers: TestServer[] = [];
  return {
    service,
    fake,
    acme,
    token,
    act,
    instanceOf,
    async serveTools(configure) {
      const server = await startSdkServer({ configure });
      toolServers.push(server);
      return instanceOf(server.url);
    },
    thread: async (input = {}, by) => (await act('chat_create_thread', input, by)).id,
    messages,
    async settled(id, by) {
      await expect.poll(async () => (await messages(id, by)).filter(isOpen)).toEqual([]);
      return messages(id, by);
    },
    async close() {
      await service.close();
      for (const server of toolServers) await server[Symbol.asyncDispose]();
      await fake.close();
    },
  };
}

/** Returns the text of a message. */
export const saidIn = ({ parts }: Pick<ChatMessage, 'parts'> = { parts: [] }): string =>
  parts.flatMap(({ type, text }) => (type === 'text' ? text : [])).join('');
