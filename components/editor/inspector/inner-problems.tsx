import { CircleAlert, TriangleAlert } from 'lucide-react';
import type { Step } from '../../../server/domains/workflows/edits/index.ts';
import { placeInLoop } from '../loop-problems.ts';
import type { Problem } from '../use-draft.ts';

/** Lists the problems in the steps of a loop, each with its place. */
export function InnerProblems({ loop, problems }: { loop: Step; problems: readonly Problem[] }) {
  if (problems.length === 0) return null;
  return (
    <div role="alert">
      <ul aria-label="Problems in the steps of the loop" className="flex flex-col gap-1 text-xs">
        {problems.map(({ severity, path, code, message }) => (
          <li
            key={`${path}:${code}:${message}`}
            className={`flex items-start gap-1.5 ${severity === 'error' ? 'text-bad' : 'text-warn'}`}
          >
            {severity === 'error' ? (
              <CircleAlert role="img" aria-label="Error" className="mt-0.5 size-3.5 shrink-0" />
            ) : (
              <TriangleAlert role="img" aria-label="Warning" className="mt-0.5 size-3.5 shrink-0" />
            )}
            <span className="min-w-0 wrap-anywhere">
              <code>{placeInLoop(loop, path)}</code>: {message}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}
