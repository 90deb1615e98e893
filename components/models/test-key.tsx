'use client';
import { useQuery } from '@tanstack/react-query';
import { CircleCheck, CircleX } from 'lucide-react';
import { useTRPC, useTRPCClient } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { ErrorState } from '../ui/states.tsx';
import type { ModelKey } from './provider-labels.ts';

/** Asks the provider which models the key may use. The request costs no tokens. */
export function TestKeyDialog({ modelKey, onClose }: { modelKey: ModelKey; onClose: () => void }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const { id, provider, name } = modelKey;
  const trial = useQuery({
    queryKey: [...trpc.llm_provider_keys_test.mutationKey(), id],
    queryFn: () => client.llm_provider_keys_test.mutate({ id }),
    // Opening the dialog always sends a new request, and a failure is shown at once.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return (
    <Dialog
      open
      onOpenChange={open => !open && onClose()}
      title={`Test ${name}`}
      footer={
        <>
          <Button pending={trial.isFetching} onClick={() => void trial.refetch()}>
            Test again
          </Button>
          <Button variant="primary" onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      {trial.isPending ? (
        <div aria-busy className="flex flex-col gap-2">
          <Skeleton className="h-5 w-72 max-w-full" />
          <Skeleton className="h-24 w-full" />
        </div>
      ) : trial.data ? (
        <>
          <Verdict ok={trial.data.ok} message={trial.data.message} />
          {trial.data.models.length > 0 ? (
            <Listed ids={trial.data.models.map(model => `${provider}/${model}`)} />
          ) : null}
        </>
      ) : (
        <ErrorState error={trial.error} onRetry={() => void trial.refetch()} />
      )}
    </Dialog>
  );
}

function Verdict({ ok, message }: { ok: boolean; message: string }) {
  const Icon = ok ? CircleCheck : CircleX;
  return (
    <p role="status" className={`flex items-start gap-2 text-sm ${ok ? 'text-ok' : 'text-bad'}`}>
      <Icon aria-hidden className="mt-0.5 size-4 shrink-0" />
      <span className="min-w-0 break-words">
        {ok ? 'It works. ' : 'It does not work. '}
        {message}
      </span>
    </p>
  );
}

function Listed({ ids }: { ids: string[] }) {
  return (
    <ScrollRegion label="Models of the key" className="mt-3 max-h-64 overflow-y-auto rounded-md border">
      <ul>
        {ids.map(id => (
          <li key={id} className="flex items-center justify-between gap-2 border-b py-0.5 pr-1 pl-3 last:border-b-0">
            <code className="min-w-0 truncate text-xs">{id}</code>
            <CopyButton text={id} label={`Copy ${id}`} />
          </li>
        ))}
      </ul>
    </ScrollRegion>
  );
}
