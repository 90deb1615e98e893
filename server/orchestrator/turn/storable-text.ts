/**
 * Returns the text in a form that the projections' columns can store: PostgreSQL's text and jsonb allow neither U+0000
 * nor half a surrogate pair. The events are stored as json text, which keeps both, so nothing is lost.
 */
export function storable(text: string): string {
  return text.includes('\0') || !text.isWellFormed() ? text.replaceAll('\0', '\uFFFD').toWellFormed() : text;
}

/** Returns the name of a person, tool or model for usage: short, and without the character that separates its texts. */
export function label(text: unknown): string {
  return typeof text === 'string' ? storable(text.slice(0, MAX_LABEL_LENGTH)).replaceAll('\u001e', ' ') : '';
}
const MAX_LABEL_LENGTH = 300;

/** A replacer for JSON.stringify that makes all texts of a value storable. */
export const storableText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? storable(value) : value;
