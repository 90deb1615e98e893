import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import type { Graph } from '../../orchestrator/core/index.ts';
import { listVersions } from '../workflows/versions/list.ts';
import type { ListAgentVersionsInput, ListAgentVersionsOutput } from './schemas.ts';
import { settingsOf } from './settings.ts';
import { requireAgent } from './view.ts';

/** GET /v1/agents/{id}/versions: the agent's versions with their settings, newest first. Throws AppError 404. */
export async function listAgentVersions(
  ctx: Context,
  input: z.output<typeof ListAgentVersionsInput>,
): Promise<z.input<typeof ListAgentVersionsOutput>> {
  await requireAgent(ctx, input.id);
  const { versions, next_cursor } = await listVersions(ctx, input);
  return {
    versions: versions.map(({ version, published_at, published_by, changelog, graph_snapshot }) => ({
      version,
      published_at,
      published_by,
      changelog,
      settings: settingsOf(graph_snapshot as Graph),
    })),
    next_cursor,
  };
}
