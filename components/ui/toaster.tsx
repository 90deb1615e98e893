'use client';
import { useTheme } from 'next-themes';
import { Toaster as Sonner, toast } from 'sonner';
import { readError } from '../trpc/errors.ts';

export { toast };

export function Toaster() {
  const { resolvedTheme } = useTheme();
  return (
    <Sonner
      theme={resolvedTheme === 'dark' ? 'dark' : 'light'}
      position="bottom-right"
      toastOptions={{ classNames: { toast: 'font-sans! text-sm!' }, duration: 5000 }}
      style={{
        ['--normal-bg' as string]: 'var(--surface)',
        ['--normal-text' as string]: 'var(--text)',
        ['--normal-border' as string]: 'var(--line)',
        ['--border-radius' as string]: '8px',
      }}
    />
  );
}

/** Says that an action failed, in the server's own words. */
export function toastError(error: unknown): void {
  const problem = readError(error);
  toast.error(problem.message, problem.requestId ? { description: `Request ${problem.requestId}` } : undefined);
}
