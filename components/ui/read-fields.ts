/** Returns the text of the field of this name, trimmed; empty if there is none. */
export type FieldText = (name: string) => string;

/** The fields of a form as they are now. Passwords are not for this: a space at their end counts. */
export function readFields(form: HTMLFormElement): FieldText {
  const fields = new FormData(form);
  return name => String(fields.get(name) ?? '').trim();
}
