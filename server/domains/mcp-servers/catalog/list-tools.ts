import { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { cutPage, decodeCursor } from '../../../operation/cursor.ts';
import { Id, PlainText } from '../../../operation/wire.ts';
import type { ListToolsInput, ListToolsOutput } from '../schemas.ts';
import { bounds } from './clean.ts';
import { listToolRows } from './queries.ts';
import { toTool } from './view.ts';

const ToolKey = z.tuple([Id, PlainText(bounds.nameLength)]);

/**
 * Returns every tool that is published in the workspace, with its schemas and the project's instances that offer it. A
 * filter that names another workspace's server, or another project's instance, finds nothing. `name`: only tools with
 * exactly this name.
 */
export async function listTools(
  ctx: Context,
  input: z.output<typeof ListToolsInput> & { name?: string | undefined },
): Promise<z.input<typeof ListToolsOutput>> {
  const key = decodeCursor(ToolKey, input.cursor);
  const { tenantId, projectId } = ctx.principal;
  const rows = await listToolRows(
    ctx.services.pool,
    { tenantId, projectId },
    {
      serverId: input.server_id,
      instanceId: input.instance_id,
      q: input.q,
      name: input.name,
      after: key && { serverId: key[0], name: key[1] },
      limit: input.limit + 1,
    },
  );
  const page = cutPage(rows, input.limit, row => [row.server_id, row.tool.name]);
  const tools = page.rows.map(row => ({
    ...toTool(row.tool),
    server: { id: row.server_id, name: row.server_name, service: row.server_service },
    version: row.version,
    instances: row.instances.map(({ id, name }) => ({ id, name })),
  }));
  return { tools, next_cursor: page.next_cursor };
}
