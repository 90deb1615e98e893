'use client';
import dynamic from 'next/dynamic';
import { Skeleton } from '../ui/skeleton.tsx';

/** The code editor, loaded when the first code field is shown. */
export const LazyCodeEditor = dynamic(() => import('./code-editor.tsx').then(module => module.CodeEditor), {
  ssr: false,
  loading: () => <Skeleton className="h-18 w-full" />,
});
