import { z } from 'zod';

const ShownSchema = z.object({ hidden: z.array(z.string()), added: z.array(z.string()) });
/** Standard columns that a person has hidden, and searchable fields that the person has added. */
export type Shown = z.output<typeof ShownSchema>;

/** Reads the choice that the browser has stored; that of a new person if it has none, or one of another version. */
export function readHidden(text: string): Shown {
  try {
    return ShownSchema.parse(JSON.parse(text));
  } catch {
    return { hidden: [], added: [] };
  }
}

export const writeShown = (shown: Shown): string => JSON.stringify(shown);

/** Returns the choice with a column shown that was not, or the other way round. */
export function toggled({ hidden, added }: Shown, column: string, isStandard: boolean): Shown {
  const change = (list: readonly string[]) =>
    list.includes(column) ? list.filter(each => each !== column) : [...list, column];
  return isStandard ? { hidden: change(hidden), added } : { hidden, added: change(added) };
}
