'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import { useRefreshWebhooks } from './use-refresh-webhooks.ts';
import { draftOf, extrasOf, type Webhook, WebhookFields } from './webhook-form.tsx';

/** Changes the name of a webhook and its settings for starting runs. */
export function EditWebhookDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshWebhooks();
  const [draft, setDraft] = useState(() => draftOf(webhook));
  const [problems, setProblems] = useState<{ name?: string; payload?: string }>({});
  const patch = useMutation(
    trpc.webhooks_patch.mutationOptions({
      onSuccess: changed => {
        onClose();
        toast.success(`${changed.name} is saved`);
        return refresh();
      },
    }),
  );
  const submit = () => {
    const read = extrasOf(draft);
    const name = draft.name.trim();
    setProblems({
      ...(name === '' ? { name: 'Enter a name.' } : {}),
      ...('problem' in read ? { payload: read.problem } : {}),
    });
    if (name === '' || 'problem' in read) return;
    const { automation } = draft;
    const automation_pat_id = automation.kind === 'pat' ? automation.id : null;
    patch.mutate({
      id: webhook.id,
      name,
      extras: read.extras,
      require_timestamp: draft.requireTimestamp,
      // An unchanged token is not sent: the user may be allowed to edit the webhook, but not to store this token.
      ...(automation_pat_id === webhook.automation_pat_id ? {} : { automation_pat_id }),
    });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={`Edit ${webhook.name}`}
      action="Save"
      pending={patch.isPending}
      error={patch.error}
      noValidate
      onSubmit={submit}
    >
      <WebhookFields
        draft={draft}
        onChange={setDraft}
        problems={problems}
        paste={false}
        automationEmail={webhook.automation_email}
      />
    </FormDialog>
  );
}
