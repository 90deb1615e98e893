const MAX_QUERY = 60;

/** Returns the text from an `@` to the caret, and where that `@` is; null where nothing is being mentioned. */
export function mentionAt(text: string, caret: number): { start: number; query: string } | null {
  const start = text.slice(0, caret).lastIndexOf('@');
  if (start < 0 || caret - start - 1 > MAX_QUERY) return null;
  const before = text.slice(0, start).at(-1) ?? ' ';
  const query = text.slice(start + 1, caret);
  // An address has a letter before it; after a space or a line, the `@` was only that.
  if (/[\p{L}\p{N}.]/u.test(before) || /^\s|[\n[\]]/.test(query)) return null;
  return { start, query };
}
