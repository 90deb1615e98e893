'use client';
import { useTRPCClient } from '../trpc/provider.tsx';
import { download, fileName } from '../ui/download.ts';
import { toastError } from '../ui/toaster.tsx';

/** Returns a function that downloads a workflow as a file. */
export function useExport({ id, name }: { id: string; name: string }): (format: 'json' | 'yaml') => Promise<void> {
  const client = useTRPCClient();
  return async format => {
    try {
      const exported = await client.workflows_export.query({ id, format });
      const text = 'document' in exported ? exported.document : `${JSON.stringify(exported, null, 2)}\n`;
      download(fileName(name, format), format === 'json' ? 'application/json' : 'application/yaml', text);
    } catch (error) {
      toastError(error);
    }
  };
}
