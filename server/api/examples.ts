import type { operations } from './operations.ts';

type Name = (typeof operations)[number]['name'];

const graph = { steps: [{ id: 'approve', type: 'human_task', name: 'Approve' }] };

/** Nothing listens at this address, so a test of the key fails immediately. */
export const modelKeyExample = { provider: 'openai_compatible', base_url: 'http://127.0.0.1:9/v1' };
export const connectionExample = {
  display_name: 'Message',
  provider: 'custom',
  service: 'api_key',
  credentials: { token: 't' },
};

/**
 * Fields of a valid request besides the path parameters, for the operations that require any: they cannot be
 * derived from a schema. The description shows them, and a test sends each (authority.test.ts). `{workflows/id}` as
 * a value stands for such an id.
 */
export const requiredExamples: Partial<Record<Name, Record<string, unknown>>> = {
  me_change_password: { current_password: 'correct horse battery staple', new_password: 'another good password' },
  me_update: { name: 'Other' },
  me_notifications_test: { channel: 'email' },
  workspaces_create: { slug: 'second', name: 'Second' },
  sign_up_create: { email: 'a@example.com', name: 'A', password: 'a good password', slug: 'a' },
  projects_create: { name: 'second' },
  projects_update: { name: 'third' },
  invitations_create: { email: 'new@example.com', role: 'project_viewer' },
  invitations_accept: { token: 'x', name: 'New', password: 'a good password' },
  addresses_confirm: { token: 'x', password: 'a good password' },
  password_resets_request: { email: 'a@example.com' },
  password_resets_complete: { token: 'x', password: 'a good password' },
  setup_create: { token: 'x', email: 'a@example.com', name: 'A', password: 'a good password' },
  pats_create: { display_name: 'CI', scopes: ['workflow:read'] },
  workflows_create: { name: 'Second' },
  workflows_organize: { workflow_ids: ['{workflows/id}'], folder: 'Finance/Invoices', add_tags: ['monthly'] },
  workflows_rename_folder: { from: 'Finance/Invoices', to: 'Invoices' },
  workflows_edit: { edits: [{ type: 'set_details', description: 'What it does' }] },
  workflows_execute_command: { command: 'start' },
  runs_stop: { filter: { session_id: 'import-2026-11' } },
  runs_start_bulk: { action: 'continue', filter: { status: 'failed' } },
  runs_preview_bulk: { action: 'rerun', filter: { q: 'import' } },
  run_views_create: { name: 'Failed', filters: { status: 'failed' } },
  runs_preview_stop: { filter: { status: 'paused' } },
  tasks_complete: { approved: true },
  tasks_assign: { assignees: ['project_contributor'] },
  connections_create: connectionExample,
  mcp_connections_create: connectionExample,
  connections_suite_complete: { code: 'c', state: 's' },
  connections_suite_services_patch: { services: {} },
  connections_messaging_complete: { code: 'c', state: 's', business_account_id: '1', phone_number_id: '2' },
  connections_messaging_manual: {
    display_name: 'M',
    access_token: 't',
    business_account_id: '1',
    phone_number_id: '2',
  },
  mcp_servers_create: { name: 'Second', canonical_url: 'https://mcp.example.com/mcp' },
  mcp_instances_create: { server_id: '{servers/id}', name: 'Second' },
  mcp_config_profiles_create: { name: 'second' },
  webhooks_create: { workflow_id: '{workflows/id}', name: 'Orders' },
  agents_create: { name: 'Support', model: 'openai_compatible/any' },
  agents_run: { input: { message: 'What is open?' } },
  autopilot_chat: { text: 'Ask a person first.', model: 'openai_compatible/any' },
  autopilot_propose: { title: 'Ask a person first' },
  autopilot_edit_proposal: { edits: [{ type: 'set_details', description: 'What it does' }] },
  autopilot_try_proposal: { checks: [{ step: 'approve', op: 'completed' }] },
  autopilot_try_live: {
    etag: '{proposals/etag}',
    really: ['approve'],
    budget_credits: 1,
    checks: [{ step: 'approve', op: 'completed' }],
  },
  chat_send_message: { text: 'What is open?' },
  chat_send_and_stream: { text: 'What is open?' },
  llm_resolve: { model: 'openai/gpt-5' },
  llm_provider_keys_create: modelKeyExample,
  memory_search: { query: 'delivery address' },
  memory_index_conversation: { thread_id: 'support-1', turns: [{ role: 'user', text: 'We moved to Lisbon.' }] },
  memory_index_file: { path: 'notes/office.md', content: 'The office is in Lisbon.' },
  memory_tools_call: { tool: 'memory_search', arguments: { query: 'Lisbon' } },
  memory_propose_items: { items: [{ subject: 'office', text: 'The office is in Lisbon.' }] },
  memory_forget: { of: 'me' },
  memory_extract_batch: { episode_ids: ['{episodes/id}'], model: 'openai_compatible/any' },
  memory_settings_patch: { embedding_model: null },
  billing_settings_patch: { when_exhausted: 'pause' },
  billing_code_apply: { code: 'credits' },
  billing_discount_validate: { code: 'tenth', plan_code: 'pro' },
  billing_topup_intent: { amount: 500 },
};
/** Operations whose schema makes every field optional, but which refuse an empty request. */
export const furtherExamples: Partial<Record<Name, Record<string, unknown>>> = {
  run_views_patch: { name: 'Failed imports' },
  members_update: { role: 'project_viewer' },
  autopilot_apply_proposal: { etag: '{proposals/etag}' },
  // Another `auth_mode` makes the server a draft again, so there is a version to publish.
  mcp_servers_patch: { auth_mode: 'header' },
  mcp_servers_delete: { force: 'true' },
  chat_create_thread: { agent_id: '{agents/id}' },
  chat_archive_thread: { archived: false },
  // An agent uses its model.
  llm_provider_keys_delete: { force: 'true' },
  mcp_instances_resolve: { graph },
  // In this order: each starts where the previous one ended.
  billing_subscribe: { plan_code: 'pro' },
  billing_change_plan: { plan_code: 'business' },
  billing_cancel: { at_period_end: false },
  billing_trial_start: { plan_code: 'pro' },
  workflows_import: { baton: 1, kind: 'workflow', name: 'Imported', graph },
};

/** An id that the caller chooses, as shown in the description. */
const SOME_ID = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';
/** The state of a proposal that the caller has reviewed. */
const SOME_ETAG = '"proposal-1"';

/** Returns an example of the operation's body; null if an empty one is valid. */
export function exampleOf(operation: string): Record<string, unknown> | null {
  const all: Partial<Record<string, Record<string, unknown>>> = { ...furtherExamples, ...requiredExamples };
  const fields = all[operation];
  if (fields === undefined) return null;
  const parsed = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(parsed);
    if (typeof value !== 'string' || !/^\{.*\}$/.test(value)) return value;
    return value.endsWith('/etag}') ? SOME_ETAG : SOME_ID;
  };
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, parsed(value)]));
}
