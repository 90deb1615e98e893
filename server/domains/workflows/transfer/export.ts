import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { requireWorkflow } from '../get.ts';
import { withoutPins } from '../pinned-results.ts';
import type { ExportInput, ExportOutput } from '../schemas.ts';

/**
 * The draft as one self-contained document: the object itself (`json`), or as YAML text in `document`.
 * A graph names connections and instances by id only, so there is no secret to leave out. Pinned results are data, and stay here.
 */
export async function exportWorkflow(
  ctx: Context,
  input: z.output<typeof ExportInput>,
): Promise<z.input<typeof ExportOutput>> {
  const row = await requireWorkflow(ctx, input.id);
  const document = {
    baton: 1 as const,
    kind: 'workflow' as const,
    name: row.name,
    description: row.description,
    graph: row.graph,
    run_setup: withoutPins(row.runSetup),
    ...(row.folder === '' ? {} : { folder: row.folder }),
    ...(row.tags.length === 0 ? {} : { tags: row.tags }),
  };
  switch (input.format) {
    case 'json':
      return document;
    case 'yaml': {
      // Loaded by the first export: 72 modules, 20 ms of every start.
      const { stringify } = await import('yaml');
      return { document: stringify(document, { aliasDuplicateObjects: false }) };
    }
  }
}
