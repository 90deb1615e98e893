'use client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { CirclePause, CirclePlay, Ellipsis, Pencil, RefreshCw, Send, Trash2 } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { IconButton } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { readError } from '../ui/errors.ts';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { toast } from '../ui/toaster.tsx';
import { EditWebhookDialog } from './edit-webhook.tsx';
import { RotateSecretDialog } from './rotate-secret.tsx';
import { TestDeliveryDialog } from './test-delivery.tsx';
import type { Webhook } from './webhook-form.tsx';
import { useSwitchWebhook } from './webhook-state.tsx';

type Opened = 'test' | 'edit' | 'rotate' | 'delete' | null;

/** The menu of a webhook, in the list and on its page. */
export function WebhookActions({ webhook }: { webhook: Webhook }) {
  const [opened, setOpened] = useState<Opened>(null);
  const turn = useSwitchWebhook();
  const close = () => setOpened(null);
  const icon = 'size-3.5';
  const SwitchIcon = webhook.enabled ? CirclePause : CirclePlay;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${webhook.name}`} size="sm" tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem
          icon={<Send aria-hidden className={icon} />}
          disabled={!webhook.enabled}
          onSelect={() => setOpened('test')}
        >
          Test delivery
        </MenuItem>
        <MenuItem icon={<Pencil aria-hidden className={icon} />} onSelect={() => setOpened('edit')}>
          Edit
        </MenuItem>
        <MenuItem
          icon={<SwitchIcon aria-hidden className={icon} />}
          onSelect={() => turn.mutate({ id: webhook.id, enabled: !webhook.enabled })}
        >
          {webhook.enabled ? 'Turn off' : 'Turn on'}
        </MenuItem>
        <MenuItem icon={<RefreshCw aria-hidden className={icon} />} onSelect={() => setOpened('rotate')}>
          Rotate secret
        </MenuItem>
        <MenuSeparator />
        <MenuItem danger icon={<Trash2 aria-hidden className={icon} />} onSelect={() => setOpened('delete')}>
          Delete
        </MenuItem>
      </Menu>
      {opened === 'test' ? <TestDeliveryDialog webhook={webhook} onClose={close} /> : null}
      {opened === 'edit' ? <EditWebhookDialog webhook={webhook} onClose={close} /> : null}
      {opened === 'rotate' ? <RotateSecretDialog webhook={webhook} onClose={close} /> : null}
      <DeleteConfirm webhook={webhook} open={opened === 'delete'} onClose={close} />
    </>
  );
}

function DeleteConfirm({ webhook, open, onClose }: { webhook: Webhook; open: boolean; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const queries = useQueryClient();
  const remove = useMutation(
    trpc.webhooks_delete.mutationOptions({
      onSuccess: () => {
        onClose();
        toast.success(`${webhook.name} is deleted`);
        router.push('/webhooks');
        // Only the list is refreshed, because the page of the deleted webhook would read the webhook again before it
        // closes.
        return queries.invalidateQueries(trpc.webhooks_list.queryFilter());
      },
    }),
  );
  return (
    <Confirm
      open={open}
      onOpenChange={next => !next && onClose()}
      title={`Delete ${webhook.name}?`}
      action="Delete"
      pending={remove.isPending}
      error={remove.error ? readError(remove.error).message : null}
      onConfirm={() => remove.mutate({ id: webhook.id })}
    >
      This permanently deletes its address, secret and deliveries. Runs that it started are kept.
    </Confirm>
  );
}
