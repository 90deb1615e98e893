'use client';
import { useState } from 'react';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CopyField } from '../ui/copy.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { readError } from '../ui/errors.ts';
import { Field, Input } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import { Skeleton } from '../ui/skeleton.tsx';
import { TestButton } from './test-button.tsx';
import { useChangeWebhook, usePreferences } from './use-preferences.ts';

type OpenDialog = 'address' | 'rotate' | 'remove' | null;

/** The user's own webhook: its host, a test, and its secret, which is shown once. */
export function WebhookCard() {
  const { data, isError } = usePreferences();
  const [opened, setOpened] = useState<OpenDialog>(null);
  const [secret, setSecret] = useState<string | null>(null);
  // The card above shows the error.
  if (isError) return null;
  const origin = data?.webhook_origin ?? null;
  const close = () => setOpened(null);
  const show = (made: string | undefined) => {
    close();
    setSecret(made ?? null);
  };
  return (
    <Card title="Webhook" description="A Slack incoming webhook, or any URL that accepts JSON.">
      {data === undefined ? <Skeleton className="h-8 w-64" /> : null}
      {data && origin === null ? (
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="text-sm text-muted">No webhook yet. It would receive notifications as signed JSON.</p>
          <Button variant="primary" onClick={() => setOpened('address')}>
            Set up webhook
          </Button>
        </div>
      ) : null}
      {origin === null ? null : (
        <div className="flex flex-col items-start gap-3">
          <p className="max-w-full text-sm break-all">
            <code>{origin}</code> <span className="text-muted">The rest of the address is hidden.</span>
          </p>
          <div className="flex flex-wrap gap-2">
            <Button size="sm" onClick={() => setOpened('address')}>
              Change address
            </Button>
            <Button size="sm" onClick={() => setOpened('rotate')}>
              Replace secret
            </Button>
            <Button size="sm" variant="danger" onClick={() => setOpened('remove')}>
              Remove
            </Button>
          </div>
          <TestButton channel="webhook" />
        </div>
      )}
      {opened === 'address' ? <AddressDialog isFirst={origin === null} onSaved={show} onClose={close} /> : null}
      {opened === 'rotate' ? <RotateConfirm onRotated={show} onClose={close} /> : null}
      {opened === 'remove' ? <RemoveConfirm onClose={close} /> : null}
      {secret === null ? null : <SecretDialog secret={secret} onClose={() => setSecret(null)} />}
    </Card>
  );
}

function AddressDialog({
  isFirst,
  onSaved,
  onClose,
}: {
  isFirst: boolean;
  onSaved: (secret: string | undefined) => void;
  onClose: () => void;
}) {
  const change = useChangeWebhook();
  return (
    <FormDialog
      title={isFirst ? 'Set up webhook' : 'Change the address'}
      description="A new signing secret is created and shown once."
      action="Save"
      pending={change.isPending}
      error={change.error}
      onClose={onClose}
      onSubmit={text =>
        change.mutate(
          // The first setup also turns both notifications on: a person who sets up a webhook wants to use it.
          { webhook_url: text('url'), ...(isFirst ? { webhook: ['task_waiting', 'run_failed'] } : {}) },
          { onSuccess: ({ webhook_secret: secret }) => onSaved(secret) },
        )
      }
    >
      <Field label="Address" hint="Stored encrypted. Only its host is shown afterwards." required>
        <Input
          name="url"
          type="url"
          required
          maxLength={2000}
          autoComplete="off"
          placeholder="https://hooks.slack.com/services/…"
        />
      </Field>
    </FormDialog>
  );
}

function RotateConfirm({
  onRotated,
  onClose,
}: {
  onRotated: (secret: string | undefined) => void;
  onClose: () => void;
}) {
  const change = useChangeWebhook();
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title="Replace the signing secret?"
      action="Replace"
      tone="primary"
      pending={change.isPending}
      error={change.error && readError(change.error).message}
      onConfirm={() =>
        change.mutate({ rotate_webhook_secret: true }, { onSuccess: ({ webhook_secret: secret }) => onRotated(secret) })
      }
    >
      Requests are signed with the new secret from now on. It is shown once.
    </Confirm>
  );
}

function RemoveConfirm({ onClose }: { onClose: () => void }) {
  const change = useChangeWebhook();
  return (
    <Confirm
      open
      onOpenChange={open => !open && onClose()}
      title="Remove the webhook?"
      action="Remove"
      pending={change.isPending}
      error={change.error && readError(change.error).message}
      onConfirm={() => change.mutate({ webhook_url: null, webhook: [] }, { onSuccess: onClose })}
    >
      Its address and secret are deleted. Notifications not sent yet are skipped.
    </Confirm>
  );
}

function SecretDialog({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <Dialog
      open
      // Escape or a stray click must not close the dialog: the secret is shown only here.
      onOpenChange={() => {}}
      title="Signing secret"
      description="Slack does not need it. Other receivers use it to verify the signature of each request."
      footer={
        <Button variant="primary" onClick={onClose}>
          I have copied the secret
        </Button>
      }
    >
      <CopyField label="Signing secret" value={secret} />
    </Dialog>
  );
}
