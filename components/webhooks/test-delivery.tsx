'use client';
import { useMutation } from '@tanstack/react-query';
import { Send } from 'lucide-react';
import { useRouter } from 'next/navigation';
import { useState } from 'react';
import { parseJson } from '@/server/platform/json-text.ts';
import { type Inputs, useTRPC } from '../trpc/provider.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { toast } from '../ui/toaster.tsx';
import { useRefreshWebhooks } from './use-refresh-webhooks.ts';
import type { Webhook } from './webhook-form.tsx';

type Payload = NonNullable<Inputs['webhooks_test']>['payload'];

/** Makes the server deliver a payload to itself. This starts a real run on the user's behalf. */
export function TestDeliveryDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const trpc = useTRPC();
  const router = useRouter();
  const refresh = useRefreshWebhooks();
  const [text, setText] = useState('{\n  "order": 1042,\n  "customer": "ada@example.com"\n}');
  const [problem, setProblem] = useState<string | null>(null);
  const test = useMutation(
    trpc.webhooks_test.mutationOptions({
      onSettled: refresh,
      onSuccess: ({ run_id }) => {
        onClose();
        toast.success('The delivery was accepted', {
          action: {
            label: 'Open the run',
            onClick: () => router.push(`/workflows/${webhook.workflow_id}/runs/${run_id}`),
          },
        });
      },
    }),
  );
  const submit = () => {
    try {
      const payload = parseJson(text) as Payload;
      setProblem(null);
      test.mutate({ id: webhook.id, ...(payload === undefined ? {} : { payload }) });
    } catch (error) {
      setProblem(error instanceof Error ? error.message : 'This is not JSON.');
    }
  };
  return (
    <FormDialog
      onClose={onClose}
      title={`Test ${webhook.name}`}
      description={`Starts a real run of ${webhook.workflow_name} on your behalf.`}
      action="Deliver"
      icon={<Send aria-hidden className="size-3.5" />}
      pending={test.isPending}
      error={test.error}
      noValidate
      onSubmit={submit}
    >
      <Field label="Payload" error={problem} hint="Any JSON, as the sender would post it.">
        <Textarea
          rows={8}
          spellCheck={false}
          className="font-mono text-xs"
          value={text}
          onChange={event => setText(event.target.value)}
        />
      </Field>
    </FormDialog>
  );
}
