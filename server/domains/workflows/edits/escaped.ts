/** The text as a regular expression matches it to the letter. Safari before 18.2 has no `RegExp.escape`. */
export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
