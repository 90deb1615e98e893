import { operation } from '../../../operation/operation.ts';
import { RUNS } from '../tag.ts';
import { getLoopItems } from './items.ts';
import { LoopItems, LoopItemsInput } from './schemas.ts';

/** The operation that shows the items of a loop. */
export const loopOperations = [
  operation({
    name: 'runs_get_loop_items',
    method: 'GET',
    path: '/v1/workflows/{id}/runs/{runID}/steps/{step_id}/items',
    status: 200,
    tag: RUNS,
    summary: 'Get how the items of a loop went, and which of them failed',
    description: `Up to 100 items with their steps and attempts, from the item \`from\` on. A loop in a loop is named with its item, as in \`each.3.inner\`. 404 for a step
that is no loop.`,
    access: 'project_viewer',
    scope: 'workflow:read',
    input: LoopItemsInput,
    output: LoopItems,
    run: getLoopItems,
  }),
] as const;
