'use client';
import { useQuery } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { ButtonLink } from '../ui/button.tsx';
import { askHref, autopilotRequests } from './autopilot-request.ts';

/**
 * Links a failed run to Autopilot, with the question filled in. Renders nothing for workflows that people do not edit, for example
 * the workflow of a trial.
 */
export function FailureHelp({ workflowId, runId }: { workflowId: string; runId: string }) {
  const trpc = useTRPC();
  const kind = useQuery(trpc.workflows_get.queryOptions({ id: workflowId }, { select: workflow => workflow.kind }));
  if (kind.data !== 'workflow') return null;
  return (
    <span className="mt-2 flex flex-wrap gap-2">
      {(['why', 'fix'] as const).map(request => (
        <ButtonLink key={request} size="sm" href={askHref(workflowId, runId, request)}>
          {autopilotRequests[request].label}
        </ButtonLink>
      ))}
    </span>
  );
}
