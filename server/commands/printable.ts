const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const LONGEST = 400;

/** Returns a text on one line, without characters that move the cursor or reorder the line: names come from users. */
export function printable(text: string): string {
  const line = text.replace(UNSEEN, '\uFFFD');
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}
