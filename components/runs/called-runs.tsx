import Link from 'next/link';
import { isAddedStep, type RunState } from '@/server/domains/runs/run-state.ts';
import { Part } from './run-values.tsx';

/** More would hide the rest of the step; the list gets shorter as they end. */
const MAX_SHOWN = 20;

/** Links to the runs that the steps of a loop have called and wait for. */
export function CalledRuns({ state, loop }: { state: RunState; loop: string }) {
  const calls = [...state.steps.values()].flatMap(({ id, endedAt, childRun }) =>
    isAddedStep(id) && id.startsWith(`${loop}.`) && endedAt === null && childRun !== null ? [{ id, ...childRun }] : [],
  );
  if (calls.length === 0) return null;
  const more = calls.length - MAX_SHOWN;
  return (
    <Part title={calls.length === 1 ? 'Called run at work' : `${calls.length} called runs at work`}>
      <ul className="flex flex-col gap-1">
        {calls.slice(0, MAX_SHOWN).map(({ id, workflow_id, run_id }) => (
          <li key={id} className="text-sm">
            <Link
              href={`/workflows/${workflow_id}/runs/${run_id}`}
              className="underline underline-offset-2 hover:text-accent-text"
            >
              Run called by <code>{id}</code>
            </Link>
          </li>
        ))}
      </ul>
      {more > 0 ? <p className="text-xs text-muted">and {more} more</p> : null}
    </Part>
  );
}
