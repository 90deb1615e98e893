import type { z } from 'zod';
import type { Context } from '../../../operation/context.ts';
import { draftOf } from '../apply-edits.ts';
import type { DiffVersionsInput, DiffVersionsOutput } from '../edit-schemas.ts';
import { type Draft, diff } from '../edits/index.ts';
import { requireWorkflow } from '../get.ts';
import { withoutPins } from '../pinned-results.ts';
import { requireVersion } from './get.ts';

type Side = z.output<typeof DiffVersionsInput>['a'];

/**
 * GET …/versions/{a}/diff/{b}: returns the changes from `a` to `b`, by step and field; either may be the draft. Throws
 * AppError 404.
 */
export async function diffVersions(
  ctx: Context,
  { id, a, b }: z.output<typeof DiffVersionsInput>,
): Promise<z.input<typeof DiffVersionsOutput>> {
  const { steps, reordered, notes, graph, run_setup } = diff(await readSide(ctx, id, a), await readSide(ctx, id, b));
  return { steps, reordered, notes, graph, run_setup } as z.input<typeof DiffVersionsOutput>;
}

/** Reads one side of the comparison. A version has the name and description of its workflow. */
async function readSide(ctx: Context, id: string, side: Side): Promise<Draft> {
  const { graph, run_setup } = side === 'draft' ? await readDraft(ctx, id) : await readVersion(ctx, id, side);
  return draftOf({ name: '', description: '', graph, runSetup: run_setup });
}

async function readDraft(ctx: Context, id: string) {
  const { graph, runSetup } = await requireWorkflow(ctx, id);
  // Pinned results are left out, because no version has them and publishing would not change them.
  return { graph, run_setup: withoutPins(runSetup) };
}

async function readVersion(ctx: Context, id: string, version: number) {
  const { graph_snapshot: graph, run_setup } = await requireVersion(ctx, { id, version });
  return { graph, run_setup };
}
