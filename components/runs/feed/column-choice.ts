import { isObject, isTexts } from '@/server/platform/json.ts';

/** Standard columns that a person has hidden, and searchable fields that the person has added. */
export type Shown = { hidden: readonly string[]; added: readonly string[] };

/** Reads the choice that the browser has stored. Returns the default choice if there is none, or if it has another version. */
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
