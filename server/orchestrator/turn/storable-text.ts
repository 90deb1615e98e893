import { cleanText } from '../../platform/clean-json.ts';

/** Returns the name of a person, tool or model for usage: short, and without the character that separates its texts. */
export function label(text: unknown): string {
  return typeof text === 'string' ? cleanText(text.slice(0, MAX_LABEL_LENGTH)).replaceAll('\u001e', ' ') : '';
}
const MAX_LABEL_LENGTH = 300;

/** A replacer for JSON.stringify that makes all texts of a value storable. */
export const storableText = (_key: string, value: unknown): unknown =>
  typeof value === 'string' ? cleanText(value) : value;
