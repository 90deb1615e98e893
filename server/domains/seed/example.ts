import type { Context, Principal } from '../../operation/context.ts';
import type { Services } from '../../operation/services.ts';
import type { JsonMap } from '../../orchestrator/core/index.ts';
import { newId } from '../../platform/ids.ts';
import { listWorkflowRuns } from '../runs/reading/list.ts';
import { executeCommand } from '../runs/start/command.ts';
import { completeTask } from '../tasks/complete.ts';
import { listAllOfRun } from '../tasks/list-run.ts';
import { createWorkflow } from '../workflows/create.ts';
import { listWorkflows } from '../workflows/list.ts';
import { publish } from '../workflows/publish.ts';
import { changelog, expenseApproval, samples } from './expense-approval.ts';
import { seedOrderExample } from './order-example.ts';
import { settled } from './settled.ts';

export type SeededExample = {
  workflowId: string;
  runIds: string[];
  order: { workflowId: string; runId: string } | null;
};

/**
 * Creates and publishes the example workflow in the principal's project and runs it four times, through the ordinary
 * use cases: three runs end, one waits in the inbox. Existing parts are left unchanged, so the next start completes an
 * interrupted seeding. With `demoUrl`, at which the demo MCP server answers, also the workflow that calls it. Needs a
 * leading orchestrator (AppError 503 otherwise).
 */
export async function seedExample(
  services: Services,
  { principal, demoUrl = null }: { principal: Principal; demoUrl?: string | null },
): Promise<SeededExample> {
  const ctx: Context = {
    principal,
    services,
    requestId: newId(),
    surface: 'trpc',
    headers: new Map(),
    responseHeaders: new Map(),
  };
  const workflowId = await seedWorkflow(ctx);
  const runIds: string[] = [];
  // One after the other, so that the feed shows them in this order.
  for (const sample of samples) runIds.push(await seedRun(ctx, workflowId, sample));
  const order = demoUrl === null ? null : await seedOrderExample(ctx, demoUrl);
  return { workflowId, runIds, order };
}

async function seedWorkflow(ctx: Context): Promise<string> {
  const document = expenseApproval();
  const { workflows } = await listWorkflows(ctx, { q: document.name, limit: 50, graphs: false, kind: 'workflow' });
  const found = workflows.find(workflow => workflow.name === document.name);
  const workflow = found ?? (await createWorkflow(ctx, document));
  if (workflow.latest_version === null) await publish(ctx, { id: workflow.id, changelog });
  return workflow.id;
}

async function seedRun(ctx: Context, workflowId: string, sample: (typeof samples)[number]): Promise<string> {
  const { runs } = await listWorkflowRuns(ctx, { id: workflowId, q: sample.session, limit: 1 });
  const params: JsonMap = { session_id: sample.session, trigger_payload: sample.input };
  const run = runs[0] ?? (await executeCommand(ctx, { id: workflowId, command: 'start', params }));
  const ref = { id: workflowId, runID: run.run_id };
  await settled(ctx, ref, ['blocked', 'complete']);
  if (sample.answer) {
    const { tasks } = await listAllOfRun(ctx, { ...ref, limit: 200 });
    const task = tasks.find(candidate => candidate.state === 'pending');
    if (task !== undefined) await completeTask(ctx, { ...ref, task_id: task.task_id, ...sample.answer });
    await settled(ctx, ref, ['complete']);
  }
  return run.run_id;
}
