'use client';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useId } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import type { ServerDetail } from './auth-modes.ts';
import { CatalogueDiff } from './catalogue-diff.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** Publishes what was discovered as the next version, with a note about it. */
export function PublishDialog({ server, onClose }: { server: ServerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const formId = useId();
  const publish = useMutation(
    trpc.mcp_servers_publish_version.mutationOptions({
      onSuccess: version => {
        onClose();
        toast.success(`Version ${version.version} is published`);
        return refresh();
      },
    }),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const changelog = String(new FormData(event.currentTarget).get('changelog') ?? '').trim();
    publish.mutate({ id: server.id, ...(changelog ? { changelog } : {}) });
  };
  return (
    <Dialog
      open
      onOpenChange={next => !next && onClose()}
      title={`Publish version ${(server.latest_version ?? 0) + 1}`}
      description="A version never changes. Instances that follow the latest use it for every call from now on."
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="primary" type="submit" form={formId} pending={publish.isPending}>
            Publish
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit} className="flex flex-col gap-4">
        <FormError error={publish.error} />
        {server.discovered ? <CatalogueDiff diff={server.discovered.diff} /> : null}
        <Field label="Changelog" optional>
          <Textarea name="changelog" rows={3} maxLength={2000} />
        </Field>
      </form>
    </Dialog>
  );
}
