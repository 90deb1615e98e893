import type { ReactNode } from 'react';

/** The filters of a list, in a row. On a phone, there are two per line, below the search box. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <div className="mb-3 grid grid-cols-2 items-end gap-2 max-sm:*:w-full sm:flex sm:flex-wrap sm:items-center">
      {children}
    </div>
  );
}

/** The class of a filter that takes the full width on a phone. */
export const WIDE_FILTER = 'max-sm:col-span-full';
