import type { z } from 'zod';
import type { Context } from '../../operation/context.ts';
import { invalid } from '../../platform/errors.ts';
import { getContinuation, getEpisode } from './episodes/read.ts';
import { proposeItems } from './items/propose.ts';
import { confirmItem } from './items/review.ts';
import { insertRecall } from './recalls-store.ts';
import * as schema from './schemas.ts';
import { scopeOf } from './scope.ts';
import { searchMemory } from './search/search.ts';

type Tool = (ctx: Context, args: Record<string, unknown>) => Promise<unknown>;

const tool =
  <I extends z.ZodType>(input: I, run: (ctx: Context, parsed: z.output<I>) => Promise<unknown>): Tool =>
  (ctx, args) =>
    run(ctx, parse(input, args));

const TOOLS: Readonly<Record<(typeof schema.TOOLS)[number], Tool>> = {
  memory_search: tool(schema.SearchInput, recall),
  memory_get_episode: tool(schema.GetEpisodeInput, getEpisode),
  memory_get_continuation: tool(schema.ContinuationInput, getContinuation),
  memory_propose_items: tool(schema.ProposeInput, proposeItems),
  memory_confirm_item: tool(schema.ConfirmInput, confirmItem),
};

/**
 * POST /v1/memory/tools/call: calls a memory tool as an agent does, under the caller's own role. Throws the AppError of the
 * tool.
 */
export async function callTool(
  ctx: Context,
  { tool: name, arguments: args }: z.output<typeof schema.ToolCallInput>,
): Promise<z.input<typeof schema.ToolCallOutput>> {
  const result = await TOOLS[name](ctx, args);
  return { result: result as z.input<typeof schema.ToolCallOutput>['result'] };
}

/** POST /v1/memory/search. Over MCP it is the search of a tool, which counts as a use of the found memories. */
export function search(
  ctx: Context,
  input: z.output<typeof schema.SearchInput>,
): Promise<z.input<typeof schema.SearchOutput>> {
  return ctx.surface === 'mcp' ? recall(ctx, input) : searchMemory(ctx, input);
}

async function recall(
  ctx: Context,
  input: z.output<typeof schema.SearchInput>,
): Promise<z.input<typeof schema.SearchOutput>> {
  const found = await searchMemory(ctx, input);
  const { pool, clock, logger } = ctx.services;
  const ids = found.hits.map(({ id }) => id);
  if (ids.length > 0) {
    // The found memories are the answer, even if the recall could not be recorded.
    const by = ctx.agentCall ?? null;
    await insertRecall(pool, scopeOf(ctx.principal), ids, new Date(clock.now()), by).catch(error =>
      logger.warn({ err: error }, 'a recall from memory was not noted'),
    );
  }
  return found;
}

function parse<I extends z.ZodType>(input: I, args: Record<string, unknown>): z.output<I> {
  const parsed = input.safeParse(args);
  if (parsed.success) return parsed.data;
  const details = parsed.error.issues.map(({ path, message }) => ({ path: ['arguments', ...path].join('.'), message }));
  throw invalid('The arguments are not valid.', details, 'invalid_arguments');
}
