import type { ItemKind, Trust } from '../schemas.ts';
import type { ScopeColumns } from '../scope.ts';
import { ownWordsOf } from './own-words.ts';
import { sentencesOf } from './request.ts';
import { type Claim, isStated, readSentence, statementOf } from './stated.ts';

/**
 * A quote with the chunk that contains it. `is_part`: the chunk is a part of a longer message. `outside`: texts from outside in the same
 * conversation.
 */
export type Quoted = {
  quote: string;
  chunk: { role: string; trust: Trust; text: string; is_part: boolean };
  outside: readonly string[];
};

/** The words that support a claim: their trust, and whether they are a person's own. */
export type Basis = {
  /** `trusted`: a person or a model stated the claim, and no quote comes from outside. */
  trust: Trust;
  /** A person stated the claim in their own words. */
  isOwn: boolean;
};

/**
 * Returns whose words support a claim of a machine. Only a quote that states the claim supports it: “Hello” is no evidence of an address. The
 * model made up a claim that no quote states, or read it elsewhere.
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

/** Returns whether only models stated the claim, and a text from outside in the same conversation states it too. */
const isRepeated = (claim: Claim, carrying: readonly Quoted[]): boolean =>
  carrying.every(({ chunk }) => chunk.role !== 'user') &&
  carrying.some(({ outside }) => outside.some(text => isStated(claim, sentencesOf(text).flatMap(readSentence))));

/** Returns the words of a chunk that can support a claim. Pasted text in a person's message cannot. */
function carriedBy({ role, text, is_part: isPart }: Quoted['chunk']): string {
  if (role !== 'user') return text;
  return isPart ? '' : ownWordsOf(text);
}

/** The kind and the place of an item. */
export type ItemPlacement = { kind: ItemKind; place: Pick<ScopeColumns, 'userId'> };

/** Returns whether only a person may make the item active: instructions, and items that others see. */
export const waitsForPerson = ({ kind, place }: ItemPlacement): boolean =>
  kind === 'instruction' || place.userId === null;

/**
 * Returns whether an item becomes active without a review. This is the only such rule. A person's item does, unless its evidence is from
 * outside. A machine's item does if the person asked for it, the person's own words state it, and `waitsForPerson` is false.
 */
export function mayBecomeActive(
  item: ItemPlacement,
  { isAsked, isPerson, basis }: { isAsked: boolean; isPerson: boolean; basis: Basis },
): boolean {
  if (!isAsked || basis.trust !== 'trusted') return false;
  return isPerson || (basis.isOwn && !waitsForPerson(item));
}
