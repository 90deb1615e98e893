'use client';
import { CircleAlert, CircleCheck, CircleX } from 'lucide-react';
import type { Outputs } from '../trpc/provider.tsx';
import { Badge } from '../ui/badge.tsx';
import { Tooltip } from '../ui/tooltip.tsx';

export type Connection = Outputs['connections_list']['connections'][number];
export const statuses = ['active', 'expired', 'error'] as const;

const looks = {
  active: { label: 'Active', tone: 'ok', icon: CircleCheck },
  expired: { label: 'Expired', tone: 'bad', icon: CircleX },
  error: { label: 'Error', tone: 'warn', icon: CircleAlert },
} as const;

export const statusLabel = (status: Connection['status']) => looks[status].label;

/** The status; hover and focus show the latest error. */
export function ConnectionStatus({ connection }: { connection: Pick<Connection, 'status' | 'last_error'> }) {
  const { label, tone, icon: Icon } = looks[connection.status];
  const badge = (
    <Badge tone={tone} icon={<Icon aria-hidden className="size-3" />}>
      {label}
    </Badge>
  );
  if (connection.last_error === null) return badge;
  return (
    <Tooltip content={connection.last_error}>
      <button type="button" aria-label={`${label}: ${connection.last_error}`}>
        {badge}
      </button>
    </Tooltip>
  );
}
