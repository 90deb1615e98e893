import type { z } from 'zod';
import type { Context } from '../../contract/context.ts';
import type { AnalyticsInput, CreditsConsumed } from './schemas.ts';
import { askSums } from './snapshot.ts';
import { sumTotals, type Totals, topWorkflows } from './store.ts';

const microcreditColumns = [
  'step_microcredits',
  'tool_call_microcredits',
  'llm_input_microcredits',
  'llm_output_microcredits',
];

/** What was charged altogether, in microcredits. */
export const microcreditsOf = (totals: Totals): number =>
  microcreditColumns.reduce((sum, column) => sum + (totals[column] ?? 0), 0);

/** GET /v1/analytics/credits-consumed: what was charged, by billable action and by workflow. AppError 422, 503. */
export function creditsConsumed(
  ctx: Context,
  input: z.output<typeof AnalyticsInput>,
): Promise<z.input<typeof CreditsConsumed>> {
  return askSums(ctx, input, async ({ db, scope, segments }) => {
    const totals = await sumTotals(db, scope, segments);
    const workflows = await topWorkflows(db, scope, segments, microcreditColumns);
    const of = (column: string) => totals[column] ?? 0;
    const steps = of('steps_completed') + of('steps_failed') + of('steps_retried');
    return {
      microcredits: microcreditsOf(totals),
      by_action: [
        { action: 'workflow_step', quantity: steps, microcredits: of('step_microcredits') },
        { action: 'tool_call', quantity: of('tool_calls'), microcredits: of('tool_call_microcredits') },
        { action: 'llm_input_tokens', quantity: of('llm_input_tokens'), microcredits: of('llm_input_microcredits') },
        { action: 'llm_output_tokens', quantity: of('llm_output_tokens'), microcredits: of('llm_output_microcredits') },
      ],
      by_workflow: workflows.map(({ id, name, totals: spent }) => ({
        workflow_id: id,
        workflow_name: name,
        microcredits: microcreditsOf(spent),
      })),
    };
  });
}
