/** The most searchable fields of a workflow. */
export const MAX_SEARCHABLE_FIELDS = 10;
/** The longest value that is stored for search, in UTF-16 units. */
export const MAX_SEARCH_VALUE_LENGTH = 200;
/** The longest name of a searchable field. */
export const MAX_SEARCHABLE_NAME_LENGTH = 64;
/** The names that a searchable field may have. */
export const SEARCHABLE_NAME: RegExp = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** Reads the filter `name=value` of a searchable field; null for a text that is none. */
export function readFieldFilter(text: string): { name: string; value: string } | null {
  const at = text.indexOf('=');
  const [name, value] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  const isFilter = SEARCHABLE_NAME.test(name) && value !== '' && value.length <= MAX_SEARCH_VALUE_LENGTH;
  return isFilter ? { name, value } : null;
}
