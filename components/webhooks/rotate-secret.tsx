'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { PRESETS } from '@/server/domains/webhooks/presets/catalog.ts';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Select } from '../ui/select.tsx';
import { toast } from '../ui/toaster.tsx';
import { GivenSecret } from './preset-fields.tsx';
import { SecretShown } from './secret-shown.tsx';
import { useRefreshWebhooks } from './use-refresh-webhooks.ts';
import type { Webhook } from './webhook-form.tsx';

const overlaps = [
  { value: '0', label: 'Not at all (it leaked)' },
  { value: '3600', label: 'An hour' },
  { value: '86400', label: 'A day' },
  { value: '604800', label: 'A week' },
] as const;
type Overlap = (typeof overlaps)[number]['value'];

type Props = { webhook: Webhook; onClose: () => void };

/** Replaces the secret by a new one, which is shown once, or by one from the sender. The old secret stays valid for a while. */
export function RotateSecretDialog({ webhook, onClose }: Props) {
  const trpc = useTRPC();
  const refresh = useRefreshWebhooks();
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const [given, setGiven] = useState('');
  const [problem, setProblem] = useState<string>();
  const isFirst = !webhook.has_secret;
  const isRequired = PRESETS[webhook.preset].secretSource === 'sender';
  const rotate = useMutation(
    trpc.webhooks_patch.mutationOptions({
      onSuccess: ({ signing_secret }) => {
        if (signing_secret === undefined) {
          onClose();
          toast.success(`The secret of ${webhook.name} is stored`);
        }
        return refresh();
      },
    }),
  );
  if (rotate.data?.signing_secret) {
    const { signing_secret, ingress_url } = rotate.data;
    return (
      <NewSecret webhook={webhook} url={ingress_url} secret={signing_secret} overlap={overlap} onClose={onClose} />
    );
  }
  const submit = () => {
    const secret = given.trim();
    setProblem(isRequired && secret === '' ? 'Paste the secret shown by the sender.' : undefined);
    if (isRequired && secret === '') return;
    const replacement = secret === '' ? { rotate_secret: true } : { signing_secret: secret };
    rotate.mutate({ id: webhook.id, ...replacement, rotation_overlap_s: Number(overlap) });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={isFirst ? `Store the secret of ${webhook.name}` : `Rotate the secret of ${webhook.name}?`}
      description={
        isRequired
          ? 'The secret shown by the sender. It is not shown again here.'
          : 'A new signing secret is created and shown once.'
      }
      action={isFirst ? 'Store' : 'Rotate'}
      pending={rotate.isPending}
      error={rotate.error}
      noValidate
      onSubmit={submit}
    >
      <GivenSecret preset={webhook.preset} value={given} problem={problem} optional={!isRequired} onChange={setGiven} />
      {isFirst ? null : (
        <Field label="The old secret is accepted for" hint="The one before it is refused immediately.">
          <Select<Overlap> value={overlap} options={overlaps} onChange={setOverlap} />
        </Field>
      )}
    </FormDialog>
  );
}

function NewSecret({
  webhook,
  url,
  secret,
  overlap,
  onClose,
}: Props & { url: string; secret: string; overlap: Overlap }) {
  return (
    <Dialog
      open
      size="lg"
      // Escape or a stray click must not close the dialog: the secret is shown only here.
      onOpenChange={() => {}}
      title={`New signing secret of ${webhook.name}`}
      footer={
        <Button variant="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <SecretShown
        preset={webhook.preset}
        username={webhook.username}
        url={url}
        secret={secret}
        note={
          overlap === '0'
            ? 'The old secret is refused from now on. This one is not shown again.'
            : 'Give it to the senders. The old one is accepted in the meantime. It is not shown again.'
        }
      />
    </Dialog>
  );
}
