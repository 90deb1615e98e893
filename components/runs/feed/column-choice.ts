import { isObject, isTexts } from '@/server/platform/json.ts';

/** The standard columns that the user has hidden, and the searchable fields that the user has added. */
export type Shown = { hidden: readonly string[]; added: readonly string[] };

/**
 * Parses the choice stored in the browser. Returns the default choice if there is none, or if its format is another
 * one.
 */
export function readHidden(text: string): Shown {
  try {
    const kept: unknown = JSON.parse(text);
    if (isObject(kept) && isTexts(kept.hidden) && isTexts(kept.added))
      return { hidden: kept.hidden, added: kept.added };
  } catch {
    // The stored text is not JSON.
  }
  return { hidden: [], added: [] };
}

/** Returns the choice with one column toggled. */
export function toggled({ hidden, added }: Shown, column: string, isStandard: boolean): Shown {
  const change = (list: readonly string[]) =>
    list.includes(column) ? list.filter(each => each !== column) : [...list, column];
  return isStandard ? { hidden: change(hidden), added } : { hidden, added: change(added) };
}

/** Returns the choice in which exactly these columns are shown. */
export function chosenOf(columns: readonly string[], standard: readonly string[]): Shown {
  return {
    hidden: standard.filter(column => !columns.includes(column)),
    added: columns.filter(column => !standard.includes(column)),
  };
}
