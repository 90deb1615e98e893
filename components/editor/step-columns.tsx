'use client';
import type { ReactNode } from 'react';
import { ScrollRegion } from '../ui/scroll-region.tsx';
import { useMedia } from '../ui/use-media.ts';

/** The minimum window width at which three columns fit beside a part of the canvas. */
const WIDE = '(min-width: 1200px)';

/** Returns whether the input, the settings and the output of a step are shown side by side; on smaller screens they are tabs. */
export const useColumns = (): boolean => useMedia(WIDE);

type Props = { input: ReactNode; settings: ReactNode; output: ReactNode };

/** The input, the settings and the output of a step, side by side. */
export function StepColumns({ input, settings, output }: Props) {
  return (
    <div className="-mx-3 -mt-4 grid h-full min-h-0 grid-cols-3 divide-x">
      <Column title="Input">{input}</Column>
      <Column title="Settings">{settings}</Column>
      <Column title="Output">{output}</Column>
    </div>
  );
}

function Column({ title, children }: { title: string; children: ReactNode }) {
  return (
    <ScrollRegion label={title} className="min-h-0 min-w-0 overflow-y-auto focus-visible:-outline-offset-2">
      <h2 className="sticky top-0 z-5 border-b bg-surface px-4 py-2 text-xs font-medium text-muted">{title}</h2>
      {children}
    </ScrollRegion>
  );
}
