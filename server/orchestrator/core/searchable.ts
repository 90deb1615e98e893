/** The maximum number of searchable fields of a workflow. */
export const MAX_SEARCHABLE_FIELDS = 10;
/** The longest value that is stored for search, in UTF-16 units. */
export const MAX_SEARCH_VALUE_LENGTH = 200;
/** The longest name of a searchable field. */
export const MAX_SEARCHABLE_NAME_LENGTH = 64;
/** The names that a searchable field may have. */
export const SEARCHABLE_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;
/** The filter `name=value` of a searchable field. */
export const FIELD_FILTER: RegExp = new RegExp(
  `${SEARCHABLE_NAME.source.slice(0, -1)}=[\\s\\S]{1,${MAX_SEARCH_VALUE_LENGTH}}$`,
);

/** Reads a filter in the form of FIELD_FILTER; null for any other text. */
export function readFieldFilter(text: string): { name: string; value: string } | null {
  if (!FIELD_FILTER.test(text)) return null;
  const at = text.indexOf('=');
  return { name: text.slice(0, at), value: text.slice(at + 1) };
}
