'use client';
import { PRESETS, type PresetName } from '@/server/domains/webhooks/presets/catalog.ts';
import { CopyField } from '../ui/copy.tsx';
import { ExampleTabs } from './example-tabs.tsx';

type Props = {
  preset: PresetName;
  username: string | null;
  url: string;
  /** Null if the user already knows the secret, or if only the sender has it. */
  secret: string | null;
  /** A new verify token, with which the sender tests the address. */
  verifyToken?: string | null;
  note: string;
};

/** A new secret, shown once, with its address and instructions for both. */
export function SecretShown({ preset, username, url, secret, verifyToken = null, note }: Props) {
  const label = preset === 'basic' ? 'Password' : 'Signing secret';
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{note}</p>
      {secret !== null && !PRESETS[preset].secretInAddress ? (
        <div className="flex flex-col gap-1">
          <p className="text-sm font-medium">{label}</p>
          <CopyField label={label} value={secret} />
        </div>
      ) : null}
      {verifyToken === null ? null : (
        <div className="flex flex-col gap-1">
          <p className="text-sm font-medium">Verify token</p>
          <CopyField label="Verify token" value={verifyToken} />
          <p className="text-xs text-muted">Enter it with the address. It is not shown again.</p>
        </div>
      )}
      {username === null ? null : (
        <p className="text-sm">
          Username: <code>{username}</code>
        </p>
      )}
      <div className="flex flex-col gap-1">
        <p className="text-sm font-medium">Deliver to</p>
        <CopyField label="Ingress URL" value={url} />
      </div>
      {preset === 'baton' && secret !== null ? (
        <div className="flex flex-col gap-1">
          <p className="text-sm font-medium">Send one</p>
          <p className="text-xs text-muted">
            <code>pat_…</code> stands for an API key with the scope <code>workflow:run</code>.
          </p>
          <ExampleTabs url={url} secret={secret} />
        </div>
      ) : (
        <p className="text-xs text-muted">{PRESETS[preset].secretHint}</p>
      )}
    </div>
  );
}
