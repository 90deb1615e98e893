'use client';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FormError } from '../ui/states.tsx';
import { toast } from '../ui/toaster.tsx';
import type { ServerDetail } from './auth-modes.ts';
import { ConnectionField } from './connection-select.tsx';
import { useRefreshMcp } from './use-refresh-mcp.ts';

/** Reads the tools from the live server, with the credentials of a connection if it requires any. */
export function DiscoverDialog({ server, onClose }: { server: ServerDetail; onClose: () => void }) {
  const trpc = useTRPC();
  const refresh = useRefreshMcp();
  const [connection, setConnection] = useState('');
  const discover = useMutation(
    trpc.mcp_servers_discover.mutationOptions({
      onSuccess: found => {
        onClose();
        toast.success(found.tool_count === 1 ? 'One tool found' : `${found.tool_count} tools found`);
      },
      // The server also stores a failure.
      onSettled: () => refresh(),
    }),
  );
  const open = server.auth_mode === 'none';
  return (
    <Dialog
      open
      onOpenChange={next => !next && onClose()}
      size="sm"
      title="Discover tools"
      description={`Calls ${server.canonical_url} and lists its tools. Steps keep using the published version.`}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            pending={discover.isPending}
            onClick={() => discover.mutate({ id: server.id, ...(connection ? { connection_id: connection } : {}) })}
          >
            Discover
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <FormError error={discover.error} />
        {open ? (
          <p className="text-sm text-muted">The server needs no credentials, so none are sent.</p>
        ) : (
          <ConnectionField
            value={connection}
            none="Without credentials"
            hint="The connection whose credentials are sent."
            onChange={setConnection}
          />
        )}
      </div>
    </Dialog>
  );
}
