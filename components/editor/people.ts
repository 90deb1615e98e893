import type { Person } from './editor-store.ts';

const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** Returns the names as part of a sentence: "Ada", "Ada and Bob", "Ada, Bob, and 3 others". */
export function namesOf(people: readonly Person[]): string {
  const shown = people.length > 3 ? people.slice(0, 2) : people;
  const rest = people.length - shown.length;
  return list.format([...shown.map(({ name }) => name), ...(rest > 0 ? [`${rest} others`] : [])]);
}

/** Returns the people who saved the other side of a conflict, as the subject of a sentence. `me` may be among them, from another window. */
export function otherSide(savedBy: readonly Person[], me: string): string {
  const others = savedBy.filter(({ id }) => id !== me);
  if (others.length > 0) return namesOf(others);
  return savedBy.length > 0 ? 'You, in another window or with an API key,' : 'Someone else';
}

/** Returns the sentence about other editors of a draft: other people, and the user in another window. */
export function presenceOf(people: readonly Person[], otherWindow: boolean): string {
  const elsewhere = 'You are editing in another window';
  if (people.length === 0) return elsewhere;
  const others = `${namesOf(people)} ${people.length === 1 ? 'is' : 'are'} editing`;
  return otherWindow ? `${others}. ${elsewhere}` : others;
}
