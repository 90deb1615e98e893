'use client';
import { useQuery } from '@tanstack/react-query';
import { Brain } from 'lucide-react';
import { useState } from 'react';
import { useSession } from '../session/session.tsx';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Link } from '../ui/link.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import { TrustBadge } from './badges.tsx';
import { counted } from './words.ts';

type Step = { runId: string; stepId: string };
type Used = Outputs['memory_recalls_get'];

/** Shows the memories that an agent of a run has recalled or found; nothing if there are none. */
export function MemoriesOfStep(step: Step) {
  const { me } = useSession();
  return me.memory ? <IfAny {...step} /> : null;
}

function IfAny({ runId, stepId }: Step) {
  const trpc = useTRPC();
  const list = useQuery(trpc.memory_recalls_get.queryOptions({ runID: runId, step_id: stepId }));
  const total = list.data?.total ?? 0;
  return total === 0 ? null : <UsedMemories runId={runId} stepId={stepId} count={total} />;
}

/** Shows the number of used memories, and lists them on a click with links to edit them. */
export function UsedMemories({ count, ...step }: Step & { count: number }) {
  const [open, setOpen] = useState(false);
  return (
    <details className="group" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary className="flex cursor-default list-none items-center gap-1.5 text-sm text-muted">
        <Brain aria-hidden className="size-3.5" />
        <span className="underline decoration-dotted underline-offset-2 group-open:no-underline">
          Used {counted(count, 'memory', 'memories')}
        </span>
      </summary>
      {open ? <List {...step} /> : null}
    </details>
  );
}

function List({ runId, stepId }: Step) {
  const trpc = useTRPC();
  const list = useQuery(trpc.memory_recalls_get.queryOptions({ runID: runId, step_id: stepId }));
  if (list.isError) return <ErrorState error={list.error} onRetry={() => void list.refetch()} />;
  if (list.isPending) return <Skeleton className="mt-1.5 h-12 w-full" />;
  const { memories, total } = list.data;
  const hidden = total - memories.length;
  return (
    <div className="mt-1.5 border-l-2 pl-3">
      <ul aria-label="Memories" className="flex flex-col gap-1.5">
        {memories.map(memory => (
          <li key={memory.id} className="text-sm">
            <Link href={linkOf(memory)} className="block underline-offset-2 wrap-anywhere hover:underline">
              <span className="line-clamp-2">{memory.text}</span>
            </Link>
            <p className="flex flex-wrap items-center gap-1.5 text-xs text-muted">
              {memory.subject ?? memory.source}
              <TrustBadge trust={memory.trust} />
            </p>
          </li>
        ))}
      </ul>
      {hidden > 0 ? (
        <p className="mt-1 text-xs text-muted">
          {memories.length === 0 ? '' : 'And '}
          {counted(hidden, 'memory', 'memories')} that {hidden === 1 ? 'was' : 'were'} since forgotten, or not visible
          to you
        </p>
      ) : null}
    </div>
  );
}

const linkOf = ({ id, type, episode_id }: Used['memories'][number]): string =>
  type === 'item' ? `/memory?item=${id}` : `/memory?episode=${episode_id}&chunk=${id}`;
