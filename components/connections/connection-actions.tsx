'use client';
import { Blocks, Building2, Ellipsis, Pencil, RotateCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from '../ui/button.tsx';
import { Menu, MenuItem, MenuSeparator } from '../ui/menu.tsx';
import { useAccountFlows } from './connect-account.tsx';
import type { Connection } from './connection-status.tsx';
import { DeleteConnection } from './delete-connection.tsx';
import { EditConnectionDialog } from './edit-connection.tsx';
import { MessagingAccountDialog } from './messaging-account.tsx';
import { useManageable, useSharing } from './owner.tsx';
import { SuiteAccountDialog } from './suite-account.tsx';
import { useBeginFlow } from './use-begin-flow.ts';

type Opened = 'edit' | 'services' | 'again' | 'delete' | null;

/** The menu of a connection. */
export function ConnectionActions({ connection }: { connection: Connection }) {
  const [opened, setOpened] = useState<Opened>(null);
  const flows = useAccountFlows();
  const { suite } = useBeginFlow();
  const manageable = useManageable(connection);
  const sharing = useSharing(connection);
  const close = () => setOpened(null);
  const icon = 'size-3.5';
  const isSuite = connection.provider === 'suite' && flows.suite;
  const isMessaging = connection.provider === 'messaging' && flows.messaging;
  // A contributor cannot change a connection that every project uses.
  if (!manageable) return null;
  return (
    <>
      <Menu
        trigger={
          <IconButton label={`Actions for ${connection.name}`} size="sm" tooltip={false}>
            <Ellipsis aria-hidden className="size-4" />
          </IconButton>
        }
      >
        <MenuItem icon={<Pencil aria-hidden className={icon} />} onSelect={() => setOpened('edit')}>
          Edit
        </MenuItem>
        {isSuite ? (
          <MenuItem icon={<Blocks aria-hidden className={icon} />} onSelect={() => setOpened('services')}>
            Services
          </MenuItem>
        ) : null}
        {isSuite || isMessaging ? (
          <MenuItem
            icon={<RotateCw aria-hidden className={icon} />}
            onSelect={() => (isSuite ? suite.mutate({ connection_id: connection.id }) : setOpened('again'))}
          >
            Connect again
          </MenuItem>
        ) : null}
        {sharing ? (
          <MenuItem icon={<Building2 aria-hidden className={icon} />} onSelect={sharing.share}>
            {sharing.label}
          </MenuItem>
        ) : null}
        <MenuSeparator />
        <MenuItem danger icon={<Trash2 aria-hidden className={icon} />} onSelect={() => setOpened('delete')}>
          Delete
        </MenuItem>
      </Menu>
      {opened === 'edit' ? <EditConnectionDialog connection={connection} onClose={close} /> : null}
      {opened === 'services' ? <SuiteAccountDialog connection={connection} onClose={close} /> : null}
      {opened === 'again' ? <MessagingAccountDialog former={connection} onClose={close} /> : null}
      {opened === 'delete' ? <DeleteConnection connection={connection} onClose={close} /> : null}
    </>
  );
}
