'use client';
import { useMutation } from '@tanstack/react-query';
import { usePermissions } from '../session/session.tsx';
import { useTRPC } from '../trpc/provider.tsx';
import { Card } from '../ui/card.tsx';
import { toast, toastError } from '../ui/toaster.tsx';
import { Choices } from './choices.tsx';
import { useRefreshBilling } from './use-refresh-billing.ts';
import type { BillingStatus } from './wire.ts';

const choices = [
  {
    value: 'fail',
    label: 'Fail the run',
    hint: 'The next step that costs credits fails with insufficient_credits, and the run ends.',
  },
  {
    value: 'pause',
    label: 'Pause the run',
    hint: 'The run waits, and can be resumed once there are credits again.',
  },
] as const;

/** The workspace's rule for active runs. New runs are refused either way. */
export function WhenExhausted({ status }: { status: BillingStatus }) {
  const trpc = useTRPC();
  const refresh = useRefreshBilling();
  const { isAdmin } = usePermissions();
  const save = useMutation(
    trpc.billing_settings_patch.mutationOptions({
      onSuccess: () => {
        toast.success('Saved');
        return refresh();
      },
      onError: toastError,
    }),
  );
  if (!status.enforced)
    return (
      <Card title="When credits run out">
        <p className="text-sm text-muted">Runs continue. Usage is only metered, and no run is refused.</p>
      </Card>
    );
  const shown = save.isPending ? save.variables.when_exhausted : status.when_exhausted;
  return (
    <Card title="When credits run out" description="No new runs start. You choose what happens to active runs.">
      <Choices
        legend="Active runs"
        value={shown}
        choices={choices}
        disabled={!isAdmin || save.isPending}
        onChange={when_exhausted => save.mutate({ when_exhausted })}
      />
      {isAdmin ? null : <p className="mt-3 text-xs text-muted">An admin of the workspace can change this.</p>}
    </Card>
  );
}
