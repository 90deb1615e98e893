import { requestIn } from './request.ts';

/** The minimum number of words of a quotation. Fewer words in quotation marks are a name or a term, such as “the dog is called "Rex"”. */
const MIN_QUOTATION_WORDS = 4;
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
/** Matches lines that are indented, quoted as in mail, or markup. */
const PASTED_LINE = /^(?:\s*>|\t| {4,}|\s*[<|])/u;
const FENCE = /^\s*(?:```|~~~|"""|'''|-{3,}|={3,}|\*{3,}|_{3,})/u;
/** Matches a line that introduces the words of somebody else, such as `On Monday Ann wrote:`. */
const INTRODUCTION = /[:：]\s*$/u;
const HEADER =
  /^\s*(?:[-_>\s]*(?:forwarded|original|begin forwarded|weitergeleitete|ursprüngliche)\b.*|(?:from|to|cc|date|sent|subject|von|an|betreff|datum|de|para|asunto|objet|da|oggetto|assunto|van|aan|onderwerp)\s*:\s.*)$/iu;

/**
 * Returns the words of a message that the person wrote themselves. Pasted text is in quotation marks, quoted as in mail, fenced, or after a
 * line that introduces it. A message of several paragraphs has no own words, because any of the paragraphs may be pasted.
 */
export function ownWordsOf(message: string): string {
  if (/\S\s*\n[^\S\n]*\n\s*\S/u.test(message)) return '';
  const own: string[] = [];
  for (const line of message.split(/\r?\n/u)) {
    if (HEADER.test(line) || FENCE.test(line)) break;
    if (!PASTED_LINE.test(line)) own.push(withoutQuotations(line));
    // After “Please remember the following:” come the person's own words.
    if (INTRODUCTION.test(line) && requestIn(line.trim()) === null) break;
  }
  return own.join('\n');
}

const withoutQuotations = (line: string): string =>
  QUOTATIONS.reduce(
    (text, pattern) => text.replace(pattern, (whole, quoted: string) => (isLong(quoted) ? ' ' : whole)),
    line,
  );

/** Returns whether a quotation is longer than a name. Two characters of a script without blanks count as one word. */
const isLong = (text: string): boolean =>
  text.trim().split(/\s+/u).length >= MIN_QUOTATION_WORDS ||
  (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu)?.length ?? 0) >=
    2 * MIN_QUOTATION_WORDS;
