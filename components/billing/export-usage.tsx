'use client';
import { usePermissions } from '../session/session.tsx';
import { useTRPCClient } from '../trpc/provider.tsx';
import { ExportButton } from '../ui/export-button.tsx';
import { useUsageView } from './usage-filters.ts';

/** Exports the shown usage lines as CSV; hidden for viewers, who may not read them. */
export function ExportUsage() {
  const client = useTRPCClient();
  const { canWrite } = usePermissions();
  const { filters } = useUsageView();
  if (!canWrite) return null;
  return <ExportButton name="usage" read={() => client.billing_usage_export.query(filters)} />;
}
