/** Returns the trimmed text of the field with this name; empty if there is none. */
export type FieldText = (name: string) => string;

/** Reads the current fields of a form. Not for passwords, because trailing spaces are removed. */
export function readFields(form: HTMLFormElement): FieldText {
  const fields = new FormData(form);
  return name => String(fields.get(name) ?? '').trim();
}
