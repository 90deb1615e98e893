'use client';
import { ErrorState } from '@/components/ui/states.tsx';

export default function ConsoleError({ error, reset }: { error: Error & { digest?: string }; reset: () => void }) {
  return <ErrorState error={error} onRetry={reset} title="This page could not be shown" />;
}
