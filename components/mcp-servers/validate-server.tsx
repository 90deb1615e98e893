'use client';
import { useMutation } from '@tanstack/react-query';
import { ListChecks } from 'lucide-react';
import { useState } from 'react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Card } from '../ui/card.tsx';
import { FormError } from '../ui/states.tsx';
import type { ServerDetail } from './auth-modes.ts';
import { CheckList } from './check-list.tsx';
import { ConnectionField } from './connection-select.tsx';

/** Checks the server by calling it, with or without a connection. */
export function ValidateServer({ server }: { server: ServerDetail }) {
  const trpc = useTRPC();
  const [connection, setConnection] = useState('');
  const alone = useMutation(trpc.mcp_servers_validate.mutationOptions());
  const bound = useMutation(trpc.mcp_servers_validate_connection.mutationOptions());
  const validation = connection ? bound : alone;
  const validate = () => {
    if (connection) bound.mutate({ id: server.id, connection_id: connection });
    else alone.mutate({ id: server.id });
  };
  const choose = (id: string) => {
    setConnection(id);
    alone.reset();
    bound.reset();
  };
  return (
    <Card title="Validate" description="Calls the server to check its address, protocol, credentials and tools.">
      <div className="flex max-w-160 flex-col gap-4">
        <ConnectionField
          value={connection}
          none="Without credentials"
          hint="The connection is also checked, and its credentials are sent."
          onChange={choose}
        />
        <Button
          className="self-start"
          icon={<ListChecks aria-hidden className="size-3.5" />}
          pending={validation.isPending}
          onClick={validate}
        >
          Run checks
        </Button>
        <FormError error={validation.error} />
        {validation.data && !validation.isPending ? (
          <CheckList label="Checks of the server" report={validation.data} />
        ) : null}
      </div>
    </Card>
  );
}
