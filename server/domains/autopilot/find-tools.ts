import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { listTools } from '../mcp-servers/catalog/list-tools.ts';
import type { FindToolsInput, FindToolsOutput } from './schemas.ts';

type Output = z.input<typeof FindToolsOutput>;
/** The maximum number of characters of a description in a list, enough to choose a tool. */
const MAX_DESCRIPTION = 200;

/**
 * GET /v1/autopilot/tools: lists the published tools that `mcp_call` steps can call. With `tool`, returns the tools of this name with their
 * schemas, so that an assistant need not read all schemas. The list is empty if no tool has the name.
 */
export async function findTools(
  ctx: Context,
  { tool: name, ...input }: z.output<typeof FindToolsInput>,
): Promise<Output> {
  const { tools, next_cursor } = await listTools(ctx, { ...input, name });
  const isFull = name !== undefined;
  const found = tools.map(({ name, title, description, annotations, server, instances, ...schemas }) => ({
    name,
    title,
    description: isFull ? description : shorten(description),
    read_only: annotations?.readOnlyHint === true,
    server: { id: server.id, name: server.name },
    instances,
    ...(isFull && { input_schema: schemas.input_schema, output_schema: schemas.output_schema }),
  }));
  return { tools: found, next_cursor };
}

function shorten(description: string | null): string | null {
  const signs = [...(description ?? '')];
  return signs.length > MAX_DESCRIPTION ? `${signs.slice(0, MAX_DESCRIPTION).join('')}…` : description;
}
