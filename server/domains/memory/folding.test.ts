import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutIntoChunks, MAX_CHUNK_TOKENS } from './episodes/chunks.ts';
import { estimateTokens, fingerprint, fold, languageOf, searchable, subjectKey, wordsOf } from './folding.ts';
import { diversify, fuse, packTokens } from './search/fuse.ts';
import { parseQuery } from './search/query.ts';

describe('folding', () => {
  test.each([
    ['ÜBER Straße', 'uber strasse'],
    ['Crème Brûlée', 'creme brulee'],
    ['Łódź, Ærø, İzmir', 'lodz, aero, izmir'],
    ['हिन्दी', 'हिन्दी'],
    ['東京都', ' 東京 京都 '],
    ['a東b', 'a 東 b'],
    ['한국어', '한국어'],
  ])('%s', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  test('is idempotent', () => {
    const letters = fc.constantFrom('a', 'É', 'ß', 'ø', 'İ', 'ü', 'Σ', 'Й', ' ', '.', '0');
    fc.assert(
      fc.property(fc.string({ unit: letters }), text => {
        expect(fold(fold(text))).toBe(fold(text));
      }),
    );
  });

  test('finds the language by its common words', () => {
    const language = (text: string) => languageOf(wordsOf(fold(text)));
    expect(language('the house of the people')).toBe('english');
    expect(language('das Haus und der Garten sind schön')).toBe('german');
    expect(language('la maison est dans le jardin avec une fleur')).toBe('french');
    expect(language('el perro es de la casa por la mañana')).toBe('spanish');
    expect(language('Kubernetes 4711')).toBe('english');
  });

  test('compares subjects and texts by their words', () => {
    expect(subjectKey('  The "Müller" account! ')).toBe('the muller account');
    expect(fingerprint('A', 'b c')).toEqual(fingerprint('a', 'B,  c.'));
    expect(fingerprint('a b', 'c')).not.toEqual(fingerprint('a', 'b c'));
  });

  test('leaves common words out of the plain words', () => {
    expect(searchable('The cat is in the house', 'pets')).toMatchObject({
      plain: 'pets cat house',
      language: 'english',
    });
  });
});

describe('chunks', () => {
  test('have at most 400 tokens, end with sentences, and lose no text', () => {
    const text = fc.array(fc.constantFrom('word ', 'A sentence. ', '\n', '\n\n', '東京都', 'x'.repeat(700), '🙂'), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(text, parts => {
        const whole = parts.join('');
        const chunks = cutIntoChunks(whole);
        for (const chunk of chunks) {
          expect(estimateTokens(chunk)).toBeLessThanOrEqual(MAX_CHUNK_TOKENS);
          expect(chunk.isWellFormed()).toBe(true);
        }
        expect(chunks.join('').replace(/\s/g, '')).toBe(whole.replace(/\s/g, ''));
      }),
    );
    const paragraphs = `${'First paragraph. '.repeat(80)}\n\n${'Second one. '.repeat(80)}`;
    expect(cutIntoChunks(paragraphs).map(chunk => chunk.slice(0, 6))).toEqual(['First ', 'Second']);
    expect(cutIntoChunks('x'.repeat(1600))).toHaveLength(1);
    expect(cutIntoChunks('x'.repeat(1601))).toHaveLength(2);
    expect(cutIntoChunks('  \n ')).toEqual([]);
  });
});

test('a query is words, phrases, exclusions, subjects and ids', () => {
  const id = '0198c0de-7a2b-7cc3-9d1e-3f2b8a6c4d10';
  const parsed = parseQuery(`Where is "Ada Lovelace's" house -garden ${id.toUpperCase()}?`);
  expect(parsed).toMatchObject({ phrases: ["ada lovelace's"], excluded: ['garden'], ids: [id], language: 'english' });
  expect(parsed.words).toEqual(['ada', "lovelace's", 'house', id]);
  expect(parsed.subjects).toEqual(expect.arrayContaining(['ada lovelace', 'house', 'where is ada']));
  expect(parseQuery('the who').words).toEqual(['the', 'who']);
  expect(parseQuery('-').words).toEqual([]);
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      expect(parseQuery(text).words.length).toBeLessThanOrEqual(24);
    }),
  );
});

describe('fusion', () => {
  test('prefers a hit of several signals', () => {
    const fused = fuse([
      { signal: 'text', weight: 1, candidates: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] },
      { signal: 'trigram', weight: 1, candidates: [{ id: 'c' }, { id: 'd' }] },
    ]);
    expect(fused.map(({ id }) => id)).toEqual(['c', 'a', 'd', 'b']);
    expect(fused[0]?.ranks).toEqual({ text: 3, trigram: 1 });
  });

  test('gives equal hits of a signal the same rank, so that another signal decides', () => {
    const level = (ids: string) => [...ids].map(id => ({ id, level: 1 }));
    const fused = fuse([
      { signal: 'text', weight: 1, candidates: [...level('abcde'), { id: 'f', level: 0 }] },
      { signal: 'vector', weight: 1, candidates: [{ id: 'e' }, { id: 'a' }] },
    ]);
    expect(fused.map(({ id }) => id)).toEqual(['e', 'a', 'b', 'c', 'd', 'f']);
    expect(fused.map(({ ranks }) => ranks.text)).toEqual([1, 1, 1, 1, 1, 6]);
  });

  test('moves repetitions back without dropping them', () => {
    const hit = (name: string, score: number, words: string) => ({ name, score, words: new Set(words.split(' ')) });
    const hits = [hit('a', 1, 'x y z q'), hit('b', 0.99, 'x y z q'), hit('c', 0.8, 'x other')];
    expect(diversify(hits, 3).map(({ name }) => name)).toEqual(['a', 'c', 'b']);
    expect(diversify(hits, 2)).toHaveLength(2);
    expect(diversify([], 2)).toEqual([]);
  });

  test('packs up to the limit, and skips hits that do not fit', () => {
    const hits = [{ tokens: 30 }, { tokens: 30 }, { tokens: 10 }];
    expect(packTokens(hits, 40)).toEqual({ kept: [{ tokens: 30 }, { tokens: 10 }], tokens: 40, truncated: true });
    expect(packTokens(hits, 70)).toMatchObject({ tokens: 70, truncated: false });
    expect(packTokens(hits, undefined)).toMatchObject({ tokens: 70, truncated: false });
  });
});
