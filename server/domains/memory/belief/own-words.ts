import { requestIn } from './request.ts';

/** A quotation of fewer words is a name or a term, such as “the dog is called "Rex"”. */
const QUOTED_WORDS = 4;
const QUOTATIONS = [
  /"([^"]*)"/gu,
  /“([^”]*)”/gu,
  /„([^“”]*)[“”]/gu,
  /«([^»]*)»/gu,
  /»([^«]*)«/gu,
  /‘([^’]*)’(?!\p{L})/gu,
  /(?<!\p{L})'([^']*)'(?!\p{L})/gu,
  /「([^」]*)」/gu,
  /『([^』]*)』/gu,
];
/** Fenced and indented text, lines that are quoted as in mail, and markup. */
const PASTED_LINE = /^(?:\s*>|\t| {4,}|\s*[<|])/u;
const FENCE = /^\s*(?:```|~~~|"""|'''|-{3,}|={3,}|\*{3,}|_{3,})/u;
/** A line that introduces what somebody else wrote, such as `On Monday Ann wrote:`, and the first of the headers of a mail. */
const INTRODUCTION = /[:：]\s*$/u;
const HEADER =
  /^\s*(?:[-_>\s]*(?:forwarded|original|begin forwarded|weitergeleitete|ursprüngliche)\b.*|(?:from|to|cc|date|sent|subject|von|an|betreff|datum|de|para|asunto|objet|da|oggetto|assunto|van|aan|onderwerp)\s*:\s.*)$/iu;

/**
 * The words of a message that are the person's own. What they paste has been written by somebody else: it is in quotation marks, quoted as in
 * mail, fenced, comes after a line that introduces it, or is one of several paragraphs, of which nobody can tell whose they are.
 */
export function ownWordsOf(message: string): string {
  if (/\S\s*\n[^\S\n]*\n\s*\S/u.test(message)) return '';
  const own: string[] = [];
  for (const line of message.split(/\r?\n/u)) {
    if (HEADER.test(line) || FENCE.test(line)) break;
    if (!PASTED_LINE.test(line)) own.push(withoutQuotations(line));
    // What follows a request is what it asks for: “Please remember the following:”.
    if (INTRODUCTION.test(line) && requestIn(line.trim()) === null) break;
  }
  return own.join('\n');
}

const withoutQuotations = (line: string): string =>
  QUOTATIONS.reduce(
    (text, pattern) => text.replace(pattern, (whole, quoted: string) => (isLong(quoted) ? ' ' : whole)),
    line,
  );

/** Scripts without blanks have no words to count: a sign stands for half of one. */
const isLong = (text: string): boolean =>
  text.trim().split(/\s+/u).length >= QUOTED_WORDS ||
  (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0) >=
    2 * QUOTED_WORDS;
