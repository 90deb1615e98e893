import { isId } from '../../../platform/ids.ts';
import { fold, isCommon, type Language, languageOf, wordsOf } from '../folding.ts';
import { questionWords } from './question-words.ts';

/** A query as people write them: words, "phrases" that have to occur, and -words that must not. */
export type ParsedQuery = {
  /** The folded words, without common words unless there are no others. A prefix ends with a star (question-words.ts). */
  words: string[];
  phrases: string[];
  excluded: string[];
  /** Every sequence of up to five of the query's words, to find subjects. */
  subjects: string[];
  ids: string[];
  language: Language;
};

const MAX_WORDS = 24;
const MAX_SUBJECT_WORDS = 5;
const MAX_PHRASES = 5;

/** Parses a query. Never throws: text without valid syntax is searched for as words. */
export function parseQuery(query: string): ParsedQuery {
  const phrases: string[] = [];
  const withoutPhrases = query.replace(/"([^"]+)"/g, (_, phrase: string) => {
    if (phrases.length < MAX_PHRASES && wordsOf(fold(phrase)).length > 0) phrases.push(fold(phrase).trim());
    return ` ${phrase} `;
  });
  const excluded: string[] = [];
  const positive = withoutPhrases.replace(/(^|\s)-(?=[\p{L}\p{N}])(\S+)/gu, (_, blank: string, word: string) => {
    excluded.push(...wordsOf(fold(word)));
    return blank;
  });
  const all = wordsOf(fold(positive));
  const language = languageOf(all);
  const contentWords = questionWords(positive).filter(word => !isCommon(word, language));
  return {
    words: [...new Set(contentWords.length > 0 ? contentWords : all)].slice(0, MAX_WORDS),
    phrases,
    excluded: excluded.slice(0, MAX_WORDS),
    subjects: wordSequences(all.slice(0, MAX_WORDS)),
    ids: [
      ...new Set(
        query
          .toLowerCase()
          .match(/[0-9a-f-]{36}/g)
          ?.filter(isId) ?? [],
      ),
    ],
    language,
  };
}

function wordSequences(words: readonly string[]): string[] {
  const runs = words.flatMap((word, from) =>
    // "Anna's" is about Anna.
    Array.from({ length: MAX_SUBJECT_WORDS }, (_, more) => words.slice(from, from + more + 1)).flatMap(run => [
      run.join(' '),
      [...run.slice(0, -1), (run.at(-1) ?? word).replace(/'s?$/, '')].join(' '),
    ]),
  );
  return [...new Set(runs)];
}
