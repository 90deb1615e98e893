import { askHref, wishes } from '../autopilot/wishes.ts';
import { ButtonLink } from '../ui/button.tsx';

/** Leads from a failed run to Autopilot, with the question filled in. */
export function FailureHelp({ workflowId, runId }: { workflowId: string; runId: string }) {
  return (
    <span className="mt-2 flex flex-wrap gap-2">
      {(['why', 'fix'] as const).map(wish => (
        <ButtonLink key={wish} size="sm" href={askHref(workflowId, runId, wish)}>
          {wishes[wish].label}
        </ButtonLink>
      ))}
    </span>
  );
}
