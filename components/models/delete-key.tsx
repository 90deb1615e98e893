'use client';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { readError } from '../trpc/errors.ts';
import { type Outputs, useTRPC } from '../trpc/provider.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Checkbox } from '../ui/field.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { toast } from '../ui/toaster.tsx';
import { type ModelKey, providerLabels } from './provider-labels.ts';
import { useRefreshModels } from './use-refresh-models.ts';

/** Deletes a model key; where workflows name models of its provider, only after saying so. */
export function DeleteKey({ modelKey, onClose }: { modelKey: ModelKey; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshModels();
  const [forced, setForced] = useState(false);
  const { id, name, provider } = modelKey;
  const usage = useQuery(trpc.connections_usage.queryOptions({ id }, { staleTime: 0 }));
  const remove = useMutation(
    trpc.llm_provider_keys_delete.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${name} is deleted`);
        return refresh();
      },
    }),
  );
  const used = (usage.data?.total ?? 0) > 0;
  const error = remove.error ?? usage.error;
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title={`Delete ${name}?`}
      action="Delete"
      pending={remove.isPending || usage.isPending}
      error={error ? readError(error).message : null}
      onConfirm={() => remove.mutate({ id, force: used && forced })}
    >
      <p>The key is gone for good.</p>
      {usage.isPending ? <Skeleton className="mt-2 h-4 w-48" /> : null}
      {usage.data && used ? (
        <div className="mt-3 flex flex-col gap-3 text-text">
          <Users usage={usage.data} provider={providerLabels[provider]} />
          <Checkbox
            label="Delete it all the same"
            hint="Their LLM steps fail, unless there is another key of the provider."
            checked={forced}
            onCheckedChange={setForced}
          />
        </div>
      ) : null}
    </Confirm>
  );
}

function Users({ usage, provider }: { usage: Outputs['connections_usage']; provider: string }) {
  const others = [...usage.instances, ...usage.profiles];
  return (
    <div className="text-sm">
      <p className="font-medium">Models of {provider} are used by</p>
      <ul className="mt-1 max-h-40 list-disc overflow-y-auto pl-4 text-muted">
        {[...usage.workflows, ...others].map(each => (
          <li key={each.id}>{each.name}</li>
        ))}
        {usage.elsewhere > 0 ? <li>{usage.elsewhere} in other projects</li> : null}
      </ul>
    </div>
  );
}
