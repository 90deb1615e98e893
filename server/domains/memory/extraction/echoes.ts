import { fold, wordsOf } from '../folding.ts';

/** The minimum number of words of a recalled text that can be repeated. Shorter texts occur in others by chance. */
const MIN_ECHO_WORDS = 2;

const wordSequence = (text: string): string => ` ${wordsOf(fold(text)).join(' ')} `;

/** Returns a function that tells whether a text repeats a recalled one: either text contains the other. */
export function createEchoDetector(recalled: readonly string[]): (text: string) => boolean {
  const known = recalled.map(wordSequence).filter(text => text.trim().split(' ').length >= MIN_ECHO_WORDS);
  return text => {
    const said = wordSequence(text);
    if (said.trim() === '') return false;
    return known.some(each => each.includes(said) || said.includes(each));
  };
}

/** Removes the sentences that repeat a recalled text. */
export function removeEchoes(text: string, isEcho: (text: string) => boolean): string {
  return text
    .split(/(?<=[.!?。！？\n])\s*/u)
    .filter(sentence => !isEcho(sentence))
    .join(' ')
    .trim();
}
