'use client';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { Button } from './button.tsx';
import { download } from './download.ts';
import { toastError } from './toaster.tsx';

/** Downloads the CSV that `read` returns, in a file named after its content and the day. */
export function ExportButton({ name, read }: { name: string; read: () => Promise<string> }) {
  const save = useMutation({
    mutationFn: read,
    onSuccess: csv => download(`${name}-${new Date().toISOString().slice(0, 10)}.csv`, 'text/csv;charset=utf-8', csv),
    onError: toastError,
  });
  return (
    <Button
      size="sm"
      icon={<Download aria-hidden className="size-3.5" />}
      pending={save.isPending}
      onClick={() => save.mutate()}
    >
      Export CSV
    </Button>
  );
}
