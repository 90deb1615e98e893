import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { readConfig } from '../../operation/config.ts';
import type { McpGroup } from '../../operation/mcp-groups.ts';
import { operations } from '../operations.ts';
import { createRegistry } from '../registry.ts';
import type { McpOptions } from './platform-tool.ts';
import { toolSet } from './surface.ts';

// All groups: the compiler reports a missing one.
const mcpGroups = Object.keys({
  core: 0,
  catalog: 0,
  memory: 0,
  chat: 0,
  files: 0,
  websocket: 0,
  vault: 0,
  pat: 0,
  inbound: 0,
  llm_keys: 0,
  workflows: 0,
} satisfies Record<McpGroup, number>);

/** Every tool that is not read-only, and what it may do: clients ask their users based on this. */
const writing: Record<string, string> = {
  catalog_bff_request: 'destructive, open world',
  workspaces_create: 'adds',
  agents_create: 'adds',
  agents_patch: 'destructive, idempotent',
  agents_archive: 'destructive, idempotent',
  agents_revoke_grant: 'destructive, idempotent',
  agents_patch_settings: 'destructive, idempotent',
  // The tools of an agent may reach any server.
  agents_run: 'destructive, open world',
  chat_create_thread: 'adds',
  chat_patch_thread: 'destructive, idempotent',
  chat_delete_thread: 'destructive, idempotent',
  chat_archive_thread: 'idempotent',
  chat_fork_thread: 'adds',
  chat_send_message: 'destructive, open world',
  chat_regenerate: 'destructive, open world',
  chat_stop: 'destructive, idempotent',
  chat_revoke_grant: 'destructive, idempotent',
  chat_patch_settings: 'destructive, idempotent',
  autopilot_chat: 'open world',
  autopilot_propose: 'adds',
  autopilot_edit_proposal: 'adds',
  autopilot_discard_proposal: 'destructive, idempotent',
  // A trial asks tools that only read.
  autopilot_try_proposal: 'open world',
  autopilot_try_live: 'destructive, open world',
  autopilot_apply_proposal: 'destructive',
  autopilot_undo_proposal: 'destructive',
  pats_create: 'adds',
  // The second call is 404: the copy is destroyed by the first.
  pats_reveal: 'destructive',
  pats_revoke: 'destructive, idempotent',
  workflows_create: 'adds',
  workflows_edit: 'destructive',
  workflows_organize: 'destructive, idempotent',
  workflows_patch: 'destructive, idempotent',
  workflows_publish_version: 'adds',
  // Stopping ends a run, and the steps of a run may call anything.
  workflows_execute_command: 'destructive, open world',
  workflows_run: 'destructive, open world',
  workflows_start_test_run: 'destructive, open world',
  runs_stop: 'destructive, idempotent',
  // A decision cannot be undone, and the run continues.
  tasks_complete: 'destructive, open world',
  connections_create: 'adds',
  connections_patch: 'destructive, idempotent',
  connections_delete: 'destructive, idempotent',
  connections_suite_oauth_url: 'adds',
  // Connecting an account again replaces its credentials.
  connections_suite_complete: 'destructive, open world',
  connections_suite_services_patch: 'destructive, idempotent',
  connections_messaging_oauth_url: 'adds',
  connections_messaging_complete: 'open world',
  connections_messaging_manual: 'open world',
  llm_provider_keys_create: 'adds',
  llm_provider_keys_patch: 'destructive, idempotent',
  llm_provider_keys_delete: 'destructive, idempotent',
  memory_confirm_item: 'idempotent',
  // A new text replaces the one before.
  memory_index_file: 'destructive, idempotent',
  memory_propose_items: 'adds',
  webhooks_create: 'adds',
  // Each rotation makes another secret.
  webhooks_patch: 'destructive',
  webhooks_delete: 'destructive, idempotent',
  webhooks_test: 'open world',
};

const features = new Set(operations.flatMap(each => ('feature' in each && each.feature ? [String(each.feature)] : [])));
const mcp = { ...readConfig({}).mcp, groups: mcpGroups, risk: true };
const options = { registry: createRegistry(operations), features, services: { config: { mcp } } };
const tools = [...toolSet(options as unknown as McpOptions).values()].map(({ definition }) => definition);

function describeHints({ annotations }: Tool): string {
  const { destructiveHint, idempotentHint, openWorldHint } = annotations ?? {};
  const words = [
    ...(destructiveHint ? ['destructive'] : []),
    ...(idempotentHint ? ['idempotent'] : []),
    ...(openWorldHint ? ['open world'] : []),
  ];
  return words.join(', ') || 'adds';
}

test('every tool states all four hints', () => {
  expect(tools.length).toBeGreaterThan(40);
  for (const { name, annotations } of tools) {
    expect(annotations, name).toMatchObject({
      readOnlyHint: expect.any(Boolean),
      destructiveHint: expect.any(Boolean),
      idempotentHint: expect.any(Boolean),
      openWorldHint: expect.any(Boolean),
    });
  }
});

test('the hints of every tool that writes are as listed', () => {
  const found = tools.filter(({ annotations }) => !annotations?.readOnlyHint);
  expect(Object.fromEntries(found.map(tool => [tool.name, describeHints(tool)]))).toEqual(writing);
});

test('a read-only tool is not destructive, and is a GET unless it needs a body', () => {
  const reading = tools.filter(({ annotations }) => annotations?.readOnlyHint);
  expect(reading.filter(({ annotations }) => annotations?.destructiveHint || !annotations?.idempotentHint)).toEqual([]);
  const methods = new Map<string, string>(operations.map(({ name, method }) => [name, method]));
  const posts = reading.map(({ name }) => name).filter(name => methods.has(name) && methods.get(name) !== 'GET');
  expect(posts.sort()).toEqual([
    'agents_validate',
    'llm_provider_keys_test',
    'llm_resolve',
    'memory_search',
    'workflows_validate',
  ]);
});
