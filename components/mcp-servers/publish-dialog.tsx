'use client';
import { useMutation } from '@tanstack/react-query';
import { useTRPC } from '../trpc/provider.tsx';
import { Field, Textarea } from '../ui/field.tsx';
import { FormDialog } from '../ui/form-dialog.tsx';
import type { FieldText } from '../ui/read-fields.ts';
import { toast } from '../ui/toaster.tsx';
import type { ServerDetail } from './auth-modes.ts';
import { CatalogDiff } from './catalog-diff.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** Publishes the discovered tools as the next version, with a changelog. */
export function PublishDialog({ server, onClose }: { server: ServerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const publish = useMutation(
    trpc.mcp_servers_publish_version.mutationOptions({
      onSuccess: version => {
        onClose();
        toast.success(`Version ${version.version} is published`);
        return refresh();
      },
    }),
  );
  const submit = (text: FieldText) => {
    const changelog = text('changelog');
    publish.mutate({ id: server.id, ...(changelog ? { changelog } : {}) });
  };
  return (
    <FormDialog
      onClose={onClose}
      title={`Publish version ${(server.latest_version ?? 0) + 1}`}
      description="Versions never change. Instances set to the latest version use this one for all calls from now on."
      action="Publish"
      pending={publish.isPending}
      error={publish.error}
      onSubmit={submit}
    >
      {server.discovered ? <CatalogDiff diff={server.discovered.diff} /> : null}
      <Field label="Changelog" optional>
        <Textarea name="changelog" rows={3} maxLength={2000} />
      </Field>
    </FormDialog>
  );
}
