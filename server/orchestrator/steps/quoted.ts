/** Text that the product does not say itself, in Markdown: it must not look like something that it says. */

/** A name within a sentence. */
export const inline = (text: string): string => `\`${text.replaceAll(/[`\n]/g, ' ')}\``;

/** A block, within a fence that is longer than any in the text. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
