'use client';
import { Building2, PlugZap, RefreshCw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { ConnectionStatus } from '../connections/connection-status.tsx';
import { Owner, useManageable, useSharing } from '../connections/owner.tsx';
import { IconButton } from '../ui/button.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { RelativeTime } from '../ui/time.tsx';
import { DeleteKey } from './delete-key.tsx';
import { KeyDialog } from './key-dialog.tsx';
import { type ModelKey, providerLabels } from './provider-labels.ts';
import { TestKeyDialog } from './test-key.tsx';

type Opened = 'test' | 'replace' | 'delete' | null;

export function KeyRow({ modelKey }: { modelKey: ModelKey }) {
  const [opened, setOpened] = useState<Opened>(null);
  const close = () => setOpened(null);
  const { name, provider, base_url: baseUrl, models } = modelKey;
  const manageable = useManageable(modelKey);
  const sharing = useSharing(modelKey);
  return (
    <Tr>
      <Td className="max-w-60 min-w-32 truncate font-medium">{name}</Td>
      <Td>
        <Owner owned={modelKey} />
      </Td>
      <Td className="whitespace-nowrap text-muted">{providerLabels[provider]}</Td>
      <Td className="max-w-80 min-w-40">
        <span className="block truncate">
          {baseUrl ? <code className="text-xs">{baseUrl}</code> : "The provider's own"}
        </span>
        {models.length > 0 ? (
          <span className="block truncate text-xs text-muted">
            {models.length === 1 ? '1 model' : `${models.length} models`}: {models.join(', ')}
          </span>
        ) : null}
      </Td>
      <Td>
        <ConnectionStatus connection={modelKey} />
      </Td>
      <Td>
        {modelKey.last_used_at ? (
          <RelativeTime at={modelKey.last_used_at} />
        ) : (
          <span className="text-faint">Never</span>
        )}
      </Td>
      <Td>
        <RelativeTime at={modelKey.rotated_at} />
      </Td>
      <Td className="w-36 text-right whitespace-nowrap">
        <IconButton label={`Test ${name}`} size="sm" onClick={() => setOpened('test')}>
          <PlugZap aria-hidden className="size-3.5" />
        </IconButton>
        {sharing ? (
          <IconButton label={`${sharing.label}: ${name}`} size="sm" disabled={sharing.pending} onClick={sharing.share}>
            <Building2 aria-hidden className="size-3.5" />
          </IconButton>
        ) : null}
        {manageable ? (
          <>
            <IconButton label={`Replace ${name}`} size="sm" onClick={() => setOpened('replace')}>
              <RefreshCw aria-hidden className="size-3.5" />
            </IconButton>
            <IconButton label={`Delete ${name}`} size="sm" onClick={() => setOpened('delete')}>
              <Trash2 aria-hidden className="size-3.5" />
            </IconButton>
          </>
        ) : null}
        {opened === 'test' ? <TestKeyDialog modelKey={modelKey} onClose={close} /> : null}
        {opened === 'replace' ? <KeyDialog previous={modelKey} onClose={close} /> : null}
        {opened === 'delete' ? <DeleteKey modelKey={modelKey} onClose={close} /> : null}
      </Td>
    </Tr>
  );
}
