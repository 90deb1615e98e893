'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field } from '../ui/field.tsx';
import { Select } from '../ui/select.tsx';
import { FormError } from '../ui/states.tsx';
import { SecretShown } from './secret-shown.tsx';
import { useRefreshWebhooks } from './use-refresh-webhooks.ts';
import type { Webhook } from './webhook-form.tsx';

const overlaps = [
  { value: '0', label: 'Not at all: it has leaked' },
  { value: '3600', label: 'An hour' },
  { value: '86400', label: 'A day' },
  { value: '604800', label: 'A week' },
] as const;
type Overlap = (typeof overlaps)[number]['value'];

/** Makes a new signing secret, shows it once, and lets the old one be accepted for a while. */
export function RotateSecretDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshWebhooks();
  const [overlap, setOverlap] = useState<Overlap>('86400');
  const rotate = useMutation(trpc.webhooks_patch.mutationOptions({ onSuccess: refresh }));
  const secret = rotate.data?.signing_secret;
  if (secret)
    return (
      <Dialog
        open
        size="lg"
        // Escape or a stray click must not lose the only sight of the secret.
        onOpenChange={() => {}}
        title={`New signing secret of ${webhook.name}`}
        footer={
          <Button variant="primary" onClick={onClose}>
            I have copied it
          </Button>
        }
      >
        <SecretShown
          url={webhook.ingress_url}
          secret={secret}
          note={
            overlap === '0'
              ? 'The old secret is refused from now on. This one is not shown again.'
              : 'Give it to the senders; the old one is accepted meanwhile. It is not shown again.'
          }
        />
      </Dialog>
    );
  return (
    <Dialog
      open
      size="sm"
      onOpenChange={open => !open && onClose()}
      title={`Rotate the secret of ${webhook.name}?`}
      description="A new signing secret is created and shown once."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            pending={rotate.isPending}
            onClick={() => rotate.mutate({ id: webhook.id, rotate_secret: true, rotation_overlap_s: Number(overlap) })}
          >
            Rotate
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <FormError error={rotate.error} />
        <Field label="The old secret is accepted for" hint="The one before it is refused at once.">
          <Select<Overlap> value={overlap} options={overlaps} onChange={setOverlap} />
        </Field>
      </div>
    </Dialog>
  );
}
