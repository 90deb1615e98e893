import type { ReactNode } from 'react';
import { Logo } from '@/components/shell/logo.tsx';

export default function AuthLayout({ children }: { children: ReactNode }) {
  return (
    <main className="flex min-h-dvh flex-col items-center justify-center gap-6 p-4">
      <Logo />
      <div className="w-full max-w-96 rounded-xl border bg-surface p-6 shadow-sm">{children}</div>
    </main>
  );
}
