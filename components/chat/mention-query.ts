const MAX_QUERY = 60;

/** Returns the text between an `@` and the caret, and the position of the `@`; null without a mention. */
export function mentionAt(text: string, caret: number): { start: number; query: string } | null {
  const start = text.slice(0, caret).lastIndexOf('@');
  if (start < 0 || caret - start - 1 > MAX_QUERY) return null;
  const before = text.slice(0, start).at(-1) ?? ' ';
  const query = text.slice(start + 1, caret);
  // A letter before the `@` means an email address. A space or line break after it means a plain `@`.
  if (/[\p{L}\p{N}.]/u.test(before) || /^\s|[\n[\]]/.test(query)) return null;
  return { start, query };
}
