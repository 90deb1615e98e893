'use client';
import { useQueries } from '@tanstack/react-query';
import { isObject } from '@/server/platform/json.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Credits } from '../ui/credits.tsx';
import type { Placed } from './branches.ts';

/** The answers whose cost is added up: reading more would take longer than it tells. */
const MAX_ANSWERS = 30;
type Summary = Outputs['runs_get_summary'];

/** What the answers that people see have cost so far: tokens and credits. */
export function ThreadCost({ workflowId, branch }: { workflowId: string; branch: readonly Placed[] }) {
  const trpc = useTRPC();
  const runs = branch.flatMap(({ message: { role, metadata } }) =>
    role === 'assistant' && metadata.run_id !== null && metadata.status !== 'running' && metadata.status !== 'queued'
      ? [metadata.run_id]
      : [],
  );
  const answers = useQueries({
    queries: runs.slice(-MAX_ANSWERS).map(runID =>
      // A run that has ended does not change.
      trpc.runs_get_summary.queryOptions({ id: workflowId, runID }, { staleTime: Number.POSITIVE_INFINITY }),
    ),
  });
  const known = answers.flatMap(({ data }) => (data ? [data] : []));
  if (known.length === 0) return null;
  const tokens = known.reduce((sum, run) => sum + tokensOf(run), 0);
  const credits = known.reduce((sum, { credits_microcredits }) => sum + credits_microcredits, 0);
  return (
    <p className="text-xs text-muted tabular-nums">
      So far: {tokens.toLocaleString('en')} tokens, <Credits unit value={credits} />
    </p>
  );
}

/** The tokens that an answer took; 0 where its run says nothing of them. */
export function tokensOf({ output }: Pick<Summary, 'output'>): number {
  const usage = isObject(output) ? output.usage : undefined;
  if (!isObject(usage)) return 0;
  return [usage.input_tokens, usage.output_tokens].reduce<number>(
    (sum, count) => sum + (typeof count === 'number' ? count : 0),
    0,
  );
}
