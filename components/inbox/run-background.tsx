'use client';
import { useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.tsx';
import { inScope, useTRPC } from '../trpc/provider.tsx';
import { stepPath } from '../ui/json-path.ts';
import { JsonTree } from '../ui/json-tree.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { FormError } from '../ui/states.tsx';
import type { RunTask } from './task-view.tsx';

/** The run's input, and the results of earlier steps. */
export function RunBackground({ task }: { task: RunTask }) {
  const trpc = useTRPC();
  const { scope } = useSession();
  const context = useQuery(
    trpc.runs_get_context.queryOptions(
      { id: task.workflow_id, runID: task.run_id },
      { trpc: { context: inScope({ tenant: scope.tenant, project: task.project_id }) } },
    ),
  );
  const steps = Object.entries(context.data?.steps ?? {});
  return (
    <section aria-label="Background" className="mt-6 flex flex-col gap-4">
      {context.isError ? <FormError error={context.error} /> : null}
      {context.isPending ? <Skeleton className="h-24 w-full" /> : null}
      {context.data ? (
        <>
          <div>
            <h3 className="mb-1 text-sm font-semibold">Input of the run</h3>
            <JsonTree value={context.data.input} label="Input of the run" root="input" />
          </div>
          {steps.length > 0 ? (
            <div>
              <h3 className="mb-1 text-sm font-semibold">Results so far</h3>
              <JsonTree
                value={Object.fromEntries(steps.map(([id, step]) => [id, step.result]))}
                label="Results so far"
                pathOf={resultPath}
              />
            </div>
          ) : null}
        </>
      ) : null}
    </section>
  );
}

const resultPath = (step: string) => stepPath(step, 'result');
