'use client';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';

export type Tab<V extends string> = { value: V; label: ReactNode; content: ReactNode };

/** Tabs over one place; keep `value` in the URL where the tab is worth sharing. */
export function Tabs<V extends string>({
  value,
  onChange,
  tabs,
  label,
}: {
  value: V;
  onChange: (value: V) => void;
  tabs: readonly Tab<V>[];
  label: string;
}) {
  return (
    <Radix.Root value={value} onValueChange={next => onChange(next as V)} className="flex min-h-0 flex-1 flex-col">
      <Radix.List aria-label={label} className="flex gap-2 overflow-x-auto border-b sm:gap-4">
        {tabs.map(tab => (
          <Radix.Trigger
            key={tab.value}
            value={tab.value}
            className="-mx-0.5 -mb-px border-b-2 border-transparent px-1 py-2 text-sm whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text focus-visible:-outline-offset-2"
          >
            {tab.label}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(tab => (
        <Radix.Content key={tab.value} value={tab.value} className="min-h-0 flex-1 pt-4">
          {tab.content}
        </Radix.Content>
      ))}
    </Radix.Root>
  );
}
