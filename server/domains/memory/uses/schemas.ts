import { z } from 'zod';
import { Id, nextCursor, PlainText, page, Timestamp } from '../../../operation/wire.ts';
import { SEARCH_KINDS, TRUSTS } from '../schemas.ts';

export const ListUsesInput = z.strictObject({ id: Id, ...page });
export const ListUsesOutput = z.strictObject({
  uses: z.array(
    z.strictObject({
      recalled_at: Timestamp,
      via: z.enum(['run', 'chat', 'tool']).meta({
        description: '`run`: an agent in a run. `chat`: an answer in a chat. `tool`: a program, by the API or MCP',
      }),
      mine: z.boolean().meta({ description: 'It was recalled for you' }),
      run_id: Id.nullable().meta({
        description: 'null: none, not kept any more, or in a private chat of somebody else',
      }),
      step_id: z.string().nullable().meta({ description: 'The agent, or the call of its memory tool' }),
      workflow_id: Id.nullable(),
      workflow_name: z.string().nullable(),
      thread_id: Id.nullable(),
    }),
  ),
  ...nextCursor,
});
export const ListRecalledInput = z.strictObject({
  runID: Id,
  step_id: PlainText(200)
    .optional()
    .meta({ description: 'An agent of the run: what it was given, and what it looked up' }),
});
export const ListRecalledOutput = z.strictObject({
  memories: z
    .array(
      z.strictObject({
        id: Id,
        type: z.enum(['item', 'chunk']),
        kind: z.enum(SEARCH_KINDS),
        subject: z.string().nullable(),
        text: z.string(),
        trust: z.enum(TRUSTS),
        episode_id: Id.nullable(),
        source: z.string().nullable().meta({ description: 'The thread, file or run of a chunk' }),
        step_id: z.string().nullable().meta({ description: 'What recalled it first' }),
      }),
    )
    .meta({ description: 'Those that you may see, in the order in which they were recalled; 100 at most' }),
  total: z
    .number()
    .int()
    .meta({ description: 'All of them, with what was forgotten since and what is private to others' }),
});
