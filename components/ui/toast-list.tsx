'use client';
import { useTheme } from 'next-themes';
import { Toaster as Sonner } from 'sonner';

export { toast } from 'sonner';

/** The place of toasts, in the theme of the page. */
export function ToastList() {
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
