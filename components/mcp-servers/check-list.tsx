import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import type { Outputs } from '../trpc/provider.tsx';

type Report = Outputs['mcp_servers_validate'];

/** The label of each check. */
const titles: Record<string, string> = {
  version_published: 'Published version',
  connection_active: 'Connection',
  credentials_fit: 'Credentials fit',
  url_allowed: 'Address allowed',
  reachable: 'Reachable',
  authentication: 'Authentication',
  protocol_version: 'Protocol',
  tools_readable: 'Tools readable',
  catalogue_current: 'Catalog is current',
};

/** The outcome of a validation, check by check. */
export function CheckList({ report, label }: { report: Report; label: string }) {
  return (
    <div>
      <p role="status" className={report.valid ? 'font-medium text-ok' : 'font-medium text-bad'}>
        {report.valid ? 'All checks passed.' : 'Some checks failed.'}
      </p>
      <ul aria-label={label} className="mt-2 flex flex-col divide-y rounded-lg border">
        {report.checks.map(check => (
          <li key={check.name} className="flex gap-3 px-3 py-2">
            <CheckIcon ok={check.ok} skipped={check.message.startsWith('Not checked')} />
            <div className="min-w-0">
              <p className="text-sm font-medium">{titles[check.name] ?? check.name}</p>
              <p className="text-sm wrap-anywhere text-muted">{check.message}</p>
            </div>
          </li>
        ))}
      </ul>
    </div>
  );
}

function CheckIcon({ ok, skipped }: { ok: boolean; skipped: boolean }) {
  if (ok) return <CircleCheck aria-label="Passed" className="mt-0.5 size-4 shrink-0 text-ok" />;
  return skipped ? (
    <CircleDashed aria-label="Not checked" className="mt-0.5 size-4 shrink-0 text-faint" />
  ) : (
    <CircleX aria-label="Failed" className="mt-0.5 size-4 shrink-0 text-bad" />
  );
}
