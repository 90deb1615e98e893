'use client';
import { CopyField } from '../ui/copy.tsx';
import { ExampleTabs } from './example-tabs.tsx';

/** A signing secret in its one moment, with the address it belongs to and programs that use both. */
export function SecretShown({ url, secret, note }: { url: string; secret: string; note: string }) {
  return (
    <div className="flex flex-col gap-4">
      <p className="text-sm text-muted">{note}</p>
      <div className="flex flex-col gap-1">
        <p className="text-sm font-medium">Signing secret</p>
        <CopyField label="Signing secret" value={secret} />
      </div>
      <div className="flex flex-col gap-1">
        <p className="text-sm font-medium">Deliver to</p>
        <CopyField label="Ingress URL" value={url} />
      </div>
      <div className="flex flex-col gap-1">
        <p className="text-sm font-medium">Send one</p>
        <p className="text-xs text-muted">
          <code>pat_…</code> stands for an API key with the scope <code>workflow:run</code>.
        </p>
        <ExampleTabs url={url} secret={secret} />
      </div>
    </div>
  );
}
