import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { requireWorkflow } from '../get.ts';
import { withoutPins } from '../pinned-results.ts';
import type { ExportInput, ExportOutput } from '../schemas.ts';

/**
 * Returns the draft as one self-contained document: as an object (`json`), or as YAML text in `document`. A graph
 * refers to connections and instances only by id, so it contains no secrets. Pinned results are data, so they are not
 * exported.
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
      // Loaded by the first export, because its 72 modules would add 20 ms to every start of the service.
      const { stringify } = await import('yaml');
      return { document: stringify(document, { aliasDuplicateObjects: false }) };
    }
  }
}
