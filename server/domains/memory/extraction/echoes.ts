import { fold, wordsOf } from '../folding.ts';

/** A shorter text stands in others by chance. */
const SHORTEST_ECHO = 2;

const saying = (text: string): string => ` ${wordsOf(fold(text)).join(' ')} `;

/** Says whether a text repeats one of those that were recalled: it is in one, or has one in it. */
export function echoesOf(recalled: readonly string[]): (text: string) => boolean {
  const known = recalled.map(saying).filter(text => text.trim().split(' ').length >= SHORTEST_ECHO);
  return text => {
    const said = saying(text);
    if (said.trim() === '') return false;
    return known.some(each => each.includes(said) || said.includes(each));
  };
}

/** The text without the sentences that repeat what was recalled. */
export function withoutEchoes(text: string, isEcho: (text: string) => boolean): string {
  return text
    .split(/(?<=[.!?。！？\n])\s*/u)
    .filter(sentence => !isEcho(sentence))
    .join(' ')
    .trim();
}
