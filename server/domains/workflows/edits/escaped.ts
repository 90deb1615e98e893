/** Escapes a text for a regular expression. Safari before 18.2 has no `RegExp.escape`. */
export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
