'use client';
import { useMemo, useState } from 'react';

/** The selected rows of a list. `all`: all rows that match the filters, including those on other pages. */
export type Selection = {
  ids: ReadonlySet<string>;
  all: boolean;
  set: (ids: readonly string[], selected: boolean) => void;
  selectAll: () => void;
  clear: () => void;
};

type Chosen = { filters: string; ids: ReadonlySet<string>; all: boolean };

/**
 * Returns a selection that is cleared when the filters change. `shown`: the rows on the page; with `all`, they count as
 * selected.
 */
export function useSelection(filters: string, shown: readonly string[]): Selection {
  const [chosen, setChosen] = useState<Chosen>({ filters, ids: new Set(), all: false });
  const current = chosen.filters === filters ? chosen : { filters, ids: new Set<string>(), all: false };
  const page = shown.join();
  return useMemo(() => {
    const ids = current.all ? new Set([...current.ids, ...page.split(',').filter(id => id !== '')]) : current.ids;
    return {
      ids,
      all: current.all,
      set: (changed, selected) => {
        const next = new Set(ids);
        for (const id of changed) {
          if (selected) next.add(id);
          else next.delete(id);
        }
        setChosen({ filters: current.filters, ids: next, all: current.all && selected });
      },
      selectAll: () => setChosen({ filters: current.filters, ids, all: true }),
      clear: () => setChosen({ filters: current.filters, ids: new Set(), all: false }),
    };
  }, [current.filters, current.ids, current.all, page]);
}
