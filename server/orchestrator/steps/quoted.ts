/** Quotes text from outside the product in Markdown, so that it cannot look like the product's own text. */

/** Formats a name within a sentence. */
export const inline = (text: string): string => `\`${text.replaceAll(/[`\n]/g, ' ')}\``;

/** Formats a block within a fence that is longer than any fence in the text. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
