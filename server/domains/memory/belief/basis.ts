import type { ItemKind, Trust } from '../schemas.ts';
import type { ScopeColumns } from '../scope.ts';
import { ownWordsOf } from './own-words.ts';
import { sentencesOf } from './request.ts';
import { type Claim, isStated, readSentence, statementOf } from './stated.ts';

/**
 * A quote with the chunk in which it stands. `is_part`: the chunk is a part of a longer message. `outside`: texts from outside in the same
 * conversation.
 */
export type Quoted = {
  quote: string;
  chunk: { role: string; trust: Trust; text: string; is_part: boolean };
  outside: readonly string[];
};

/** On whose words a claim rests. */
export type Basis = {
  /** `trusted`: people and models have said it, and nothing that was quoted comes from outside. */
  trust: Trust;
  /** A person has said it in their own words. */
  isOwn: boolean;
};

/**
 * Returns on whose words a claim of a machine rests. Only a quote that states the claim carries it: “Hello” is no evidence of an address, and
 * what no quote states has been made up, or read elsewhere.
 */
export function basisOf(claim: Claim, quotes: readonly Quoted[]): Basis {
  const carrying = quotes.filter(({ quote, chunk }) => isStated(claim, statementOf(quote, carriedBy(chunk))));
  const isTrusted =
    carrying.length > 0 && quotes.every(({ chunk }) => chunk.trust === 'trusted') && !isRepeated(claim, carrying);
  return {
    trust: isTrusted ? 'trusted' : 'untrusted',
    isOwn: isTrusted && carrying.some(({ chunk }) => chunk.role === 'user'),
  };
}

/** Whether models alone have said it, and a text from outside in the same conversation had said it to them. */
const isRepeated = (claim: Claim, carrying: readonly Quoted[]): boolean =>
  carrying.every(({ chunk }) => chunk.role !== 'user') &&
  carrying.some(({ outside }) => outside.some(text => isStated(claim, sentencesOf(text).flatMap(readSentence))));

/** The words of a chunk that can carry a claim. A person's message may hold what somebody else wrote. */
function carriedBy({ role, text, is_part: isPart }: Quoted['chunk']): string {
  if (role !== 'user') return text;
  return isPart ? '' : ownWordsOf(text);
}

/** Where an item is, and what it is. */
export type Believed = { kind: ItemKind; place: Pick<ScopeColumns, 'userId'> };

/** Instructions, and what others see, wait for a person, whatever a machine says. */
export const waitsForPerson = ({ kind, place }: Believed): boolean => kind === 'instruction' || place.userId === null;

/**
 * The one rule by which an item becomes active without a review. What a person writes themselves does, unless it rests on text from outside; a
 * machine's item does if the person asked for it, in whose own words it stands, and neither waits for a person.
 */
export function mayBecomeActive(
  item: Believed,
  { isAsked, isPerson, basis }: { isAsked: boolean; isPerson: boolean; basis: Basis },
): boolean {
  if (!isAsked || basis.trust !== 'trusted') return false;
  return isPerson || (basis.isOwn && !waitsForPerson(item));
}
