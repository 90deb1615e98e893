'use client';
import { useQuery } from '@tanstack/react-query';
import { ChevronDown, Link2, MessagesSquare, Plus } from 'lucide-react';
import { useTRPC } from '../trpc/provider.tsx';
import { Button } from '../ui/button.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { useBeginFlow } from './use-begin-flow.ts';

/** Returns the kinds of accounts that this deployment can connect, besides credentials that the user enters. */
export function useAccountFlows() {
  const trpc = useTRPC();
  const suite = useQuery(trpc.connections_suite_config.queryOptions(undefined, { staleTime: 300_000 }));
  const messaging = useQuery(trpc.connections_messaging_config.queryOptions(undefined, { staleTime: 300_000 }));
  return {
    known: !suite.isPending && !messaging.isPending,
    suite: suite.data?.enabled ?? false,
    messaging: messaging.data?.enabled ?? false,
    signup: messaging.data?.embedded_signup ?? false,
  };
}

/** A button if there is one way to connect, and a menu if there are several. */
export function CreateButton({ onCreate, onMessaging }: { onCreate: () => void; onMessaging: () => void }) {
  const flows = useAccountFlows();
  const { suite, messaging } = useBeginFlow();
  const icon = <Plus aria-hidden className="size-3.5" />;
  if (!flows.suite && !flows.messaging) {
    return (
      // Disabled until the ways to connect are known.
      <Button variant="primary" icon={icon} disabled={!flows.known} onClick={onCreate}>
        Create connection
      </Button>
    );
  }
  return (
    <Menu
      trigger={
        <Button variant="primary" icon={icon} pending={suite.isPending || messaging.isPending}>
          Connect <ChevronDown aria-hidden className="size-3.5" />
        </Button>
      }
    >
      <MenuItem icon={icon} onSelect={onCreate}>
        Credentials
      </MenuItem>
      {flows.suite ? (
        <MenuItem icon={<Link2 aria-hidden className="size-3.5" />} onSelect={() => suite.mutate({})}>
          Suite account
        </MenuItem>
      ) : null}
      {flows.signup ? (
        <MenuItem icon={<MessagesSquare aria-hidden className="size-3.5" />} onSelect={() => messaging.mutate({})}>
          Messaging account
        </MenuItem>
      ) : null}
      {flows.messaging ? (
        <MenuItem icon={<MessagesSquare aria-hidden className="size-3.5" />} onSelect={onMessaging}>
          Messaging account, manually
        </MenuItem>
      ) : null}
    </Menu>
  );
}
