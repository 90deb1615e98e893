'use client';
import { Tabs as Radix } from 'radix-ui';
import type { ReactNode } from 'react';
import { cx } from './classes.ts';

export type Tab<V extends string> = { value: V; label: ReactNode; content: ReactNode };

type StripProps<V extends string> = {
  label: string;
  tabs: readonly Pick<Tab<V>, 'value' | 'label'>[];
  /** Reduces the distance between tabs, for tabs within a form. */
  dense?: boolean | undefined;
  className?: string;
};

/** The tab list, inside a `TabsRoot`. */
export function TabStrip<V extends string>({ label, tabs, dense = false, className }: StripProps<V>) {
  return (
    <Radix.List
      aria-label={label}
      className={cx('flex overflow-x-auto', dense ? 'gap-0' : 'gap-2 sm:gap-4', className)}
    >
      {tabs.map(tab => (
        <Radix.Trigger
          key={tab.value}
          value={tab.value}
          className={cx(
            '-mx-0.5 -mb-px border-b-2 border-transparent px-1 py-2 whitespace-nowrap text-muted hover:text-text data-[state=active]:border-accent data-[state=active]:font-medium data-[state=active]:text-text focus-visible:-outline-offset-2',
            dense ? 'text-xs' : 'text-sm',
          )}
        >
          {tab.label}
        </Radix.Trigger>
      ))}
    </Radix.List>
  );
}

/** The content of one tab, inside a `TabsRoot`. It is rendered only while its tab is selected. */
export const TabContent = Radix.Content;

type RootProps<V extends string> = { value: V; onChange: (value: V) => void; className?: string; children: ReactNode };

/** Connects a `TabStrip` with its `TabContent`s if they are not adjacent. */
export function TabsRoot<V extends string>({ value, onChange, className, children }: RootProps<V>) {
  return (
    <Radix.Root value={value} onValueChange={next => onChange(next as V)} className={className}>
      {children}
    </Radix.Root>
  );
}

/** Tabs with their content. Keep `value` in the URL if links to the tab are useful. */
export function Tabs<V extends string>({
  value,
  onChange,
  tabs,
  label,
  dense = false,
}: {
  value: V;
  onChange: (value: V) => void;
  tabs: readonly Tab<V>[];
  label: string;
  /** Reduces the distance between tabs, for tabs within a form. */
  dense?: boolean;
}) {
  return (
    <TabsRoot value={value} onChange={onChange} className="flex min-h-0 flex-1 flex-col">
      <TabStrip label={label} tabs={tabs} dense={dense} className="border-b" />
      {tabs.map(tab => (
        <TabContent key={tab.value} value={tab.value} className="min-h-0 flex-1 pt-4">
          {tab.content}
        </TabContent>
      ))}
    </TabsRoot>
  );
}
