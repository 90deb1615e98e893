'use client';
import type { z } from 'zod';
import type { AuditEntry } from '@/server/domains/audit/schemas.ts';
import { Badge } from '../ui/badge.tsx';
import { CopyId } from '../ui/copy.tsx';
import { Td, Tr } from '../ui/table.tsx';
import { formatLocal, formatLocalClock, RelativeTime } from '../ui/time.tsx';

type Entry = z.output<typeof AuditEntry>;

const surfaces: Record<Entry['surface'], string> = { trpc: 'Console', rest: 'API', mcp: 'MCP' };

/** One entry: the actor, the action, its object, and the outcome. */
export function AuditRow({ entry }: { entry: Entry }) {
  const { user, token } = entry;
  return (
    <Tr>
      <Td className="whitespace-nowrap">
        <RelativeTime at={entry.at} />
      </Td>
      <Td className="max-w-56 min-w-36">
        <span className="block truncate font-medium">{user.name ?? 'Deleted account'}</span>
        {user.email ? <span className="block truncate text-xs text-muted">{user.email}</span> : null}
      </Td>
      <Td className="card-title min-w-44">
        <code className="text-xs">{entry.operation}</code>
        {entry.action ? <span className="block text-xs text-muted">{entry.action}</span> : null}
      </Td>
      <Td className="max-w-72 min-w-52">
        {Object.entries(entry.target).map(([key, id]) =>
          key === 'revision' ? null : (
            <span key={key} className="flex max-w-full min-w-0 items-center gap-1 text-xs">
              {entry.names[key] === undefined ? <span className="text-muted">{key}</span> : null}
              <CopyId id={id} name={entry.names[key]} className="h-6" />
            </span>
          ),
        )}
        {entry.session === null ? null : <Session session={entry.session} until={entry.at} />}
      </Td>
      <Td className="max-w-44 min-w-24">
        {surfaces[entry.surface]}
        {token ? (
          <span className="block truncate text-xs text-muted">{`token ${token.name ?? 'that was deleted'}`}</span>
        ) : null}
        {entry.client_address ? <span className="block text-xs text-muted">{entry.client_address}</span> : null}
      </Td>
      <Td>
        <Badge tone={entry.outcome === 'ok' ? 'ok' : 'bad'}>{entry.outcome === 'ok' ? 'Done' : entry.outcome}</Badge>
      </Td>
    </Tr>
  );
}

type SessionProps = { session: NonNullable<Entry['session']>; until: string };

/** How often a draft was saved in an editing session, when, and its first and last revision. */
function Session({ session: { saves, first_at, from_revision, to_revision }, until }: SessionProps) {
  return (
    <span className="block text-xs text-muted tabular-nums">
      {`${saves.toLocaleString('en')} saves, ${formatLocal(first_at)} to ${formatLocalClock(until).slice(0, 8)}`}
      {from_revision === null || to_revision === null ? '' : `, draft ${from_revision} to ${to_revision}`}
    </span>
  );
}
