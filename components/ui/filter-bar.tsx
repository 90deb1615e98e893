import type { ReactNode } from 'react';

/** The filters of a list: in a row, and on a phone two beside each other, the search box over both. */
export function FilterBar({ children }: { children: ReactNode }) {
  return (
    <div className="mb-3 grid grid-cols-2 items-end gap-2 max-sm:*:w-full sm:flex sm:flex-wrap sm:items-center">
      {children}
    </div>
  );
}

/** A filter that takes the whole width of a phone. */
export const WIDE_FILTER = 'max-sm:col-span-full';
