import type { Context } from '../../operation/context.ts';
import { createInstance } from '../mcp-servers/instances/create.ts';
import { listInstances } from '../mcp-servers/instances/read.ts';
import { createServer } from '../mcp-servers/servers/create.ts';
import { discoverServer } from '../mcp-servers/servers/discover.ts';
import { publishServer } from '../mcp-servers/servers/publish.ts';
import { listServers } from '../mcp-servers/servers/read.ts';
import { listCatalog } from '../models/catalog.ts';
import { listWorkflowRuns } from '../runs/reading/list.ts';
import { executeCommand } from '../runs/start/command.ts';
import { createWorkflow } from '../workflows/create.ts';
import { listWorkflows } from '../workflows/list.ts';
import { publish } from '../workflows/publish.ts';
import { orderChangelog, orderToInvoice, orderToInvoiceName, sampleOrder } from './order-to-invoice.ts';
import { settled } from './settled.ts';

const serverName = 'Baton demo';

/**
 * Registers the demo MCP server at `demoUrl` with an instance, and creates, publishes and runs once the workflow that
 * uses it, through the ordinary use cases. Existing parts are left unchanged. The demo server must answer.
 */
export async function seedOrderExample(ctx: Context, demoUrl: string): Promise<{ workflowId: string; runId: string }> {
  const instanceId = await seedInstance(ctx, demoUrl);
  const { workflows } = await listWorkflows(ctx, { q: orderToInvoiceName, limit: 50, graphs: false, kind: 'workflow' });
  const found = workflows.find(workflow => workflow.name === orderToInvoiceName);
  const workflow =
    found ?? (await createWorkflow(ctx, orderToInvoice({ instanceId, model: await configuredModel(ctx) })));
  const ref = { id: workflow.id };
  if (workflow.latest_version === null) await publish(ctx, { ...ref, changelog: orderChangelog });
  const { runs } = await listWorkflowRuns(ctx, { ...ref, limit: 1 });
  const params = { session_id: 'example-order', trigger_payload: sampleOrder };
  const run = runs[0] ?? (await executeCommand(ctx, { ...ref, command: 'start', params }));
  await settled(ctx, { ...ref, runID: run.run_id }, ['complete']);
  return { workflowId: workflow.id, runId: run.run_id };
}

async function seedInstance(ctx: Context, demoUrl: string): Promise<string> {
  const { servers } = await listServers(ctx, { q: serverName, limit: 50 });
  const server =
    servers.find(({ name }) => name === serverName) ??
    (await createServer(ctx, { name: serverName, canonical_url: demoUrl, mode: 'platform', auth_mode: 'none' }));
  if (server.status === 'draft') {
    await discoverServer(ctx, { id: server.id });
    await publishServer(ctx, { id: server.id, changelog: 'As it comes with Baton.' });
  }
  const { instances } = await listInstances(ctx, { server_id: server.id, limit: 1 });
  const [present] = instances;
  if (present) return present.id;
  const made = await createInstance(ctx, { server_id: server.id, name: serverName, config: {} });
  return made.id;
}

/** Returns the first model of a provider that has a key; null if none has. */
async function configuredModel(ctx: Context): Promise<string | null> {
  const { providers } = await listCatalog(ctx);
  return providers.find(({ configured, models }) => configured && models.length > 0)?.models[0]?.id ?? null;
}
