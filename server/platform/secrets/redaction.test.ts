import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from '../json.ts';
import { createRedactor, MIN_SECRET_LENGTH } from './redaction.ts';

const secret = 'sk-live/ä+ö "quoted" 🔑=?';
const { text, json } = createRedactor([secret, 'hunter22']);

describe('a known secret is removed from a text', () => {
  test.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify({ said: secret })],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(['hunter22']))],
    ['in a URL', `https://x.example/?key=${encodeURIComponent(secret)}&a=1`],
    ['in a URL, in lower case', `?key=${encodeURIComponent(secret).toLowerCase()}`],
    ['in a form', new URLSearchParams({ key: secret }).toString()],
    ['in upper case', secret.toUpperCase()],
    ['in lower case', secret.toLowerCase()],
    ['in hex', Buffer.from(secret).toString('hex')],
    ['in hex, in upper case', Buffer.from(secret).toString('hex').toUpperCase()],
    ['in hex inside of longer hex', Buffer.from(`user:${secret}!`).toString('hex')],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64url', Buffer.from(secret).toString('base64url')],
    ['in Basic', `Basic ${Buffer.from(`user:${secret}`).toString('base64')}`],
    ['in Basic, further right', `Basic ${Buffer.from(`users:${secret}x`).toString('base64')}`],
    ['in Basic, further right still', `Basic ${Buffer.from(`userss:${secret}`).toString('base64')}`],
  ])('%s', (_, said) => {
    const cut = text(`before ${said} after`);
    expect(cut).toContain('[redacted]');
    expect(cut).toMatch(/^before .* after$/);
    for (let at = 0; at + 8 <= said.length; at += 1) {
      const piece = said.slice(at, at + 8);
      if (secret.includes(piece) || encodeURIComponent(secret).includes(piece)) expect(cut).not.toContain(piece);
    }
    const decoded = [...cut.matchAll(/[\w+/-]{4,}/g)].map(([part]) => Buffer.from(part, 'base64').toString()).join(' ');
    expect(decoded).not.toContain('quoted');
  });

  const inHtml = (value: string) => value.replace(/[&<>"'/+= ]/g, character => `&#${character.charCodeAt(0)};`);
  const inJson = (value: string) => JSON.stringify(value).slice(1, -1);
  const inBase64 = (value: string) => Buffer.from(value).toString('base64');
  const inUnits = (value: string) =>
    [...Array(value.length).keys()].map(at => `\\u${value.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
  const everyByte = (value: string) =>
    [...Buffer.from(value)].map(byte => `%${byte.toString(16).padStart(2, '0')}`).join('');

  test.each([
    ['in JSON within JSON', inJson(inJson(secret))],
    ['in JSON within JSON within JSON', inJson(inJson(inJson(secret)))],
    ['in JSON that escapes every character', inUnits(secret)],
    ['in JSON that escapes /', inJson(secret).replaceAll('/', '\\/')],
    ['in HTML with numbers', inHtml(secret)],
    [
      'in HTML with names',
      secret.replaceAll('"', '&quot;').replaceAll('/', '&sol;').replaceAll('+', '&plus;').replaceAll('=', '&equals;'),
    ],
    [
      'in HTML with hex numbers',
      [...secret].map(character => `&#x${character.codePointAt(0)?.toString(16)};`).join(''),
    ],
    ['in HTML within JSON', inJson(inHtml(secret))],
    ['in JSON within HTML', inHtml(inJson(secret))],
    ['in HTML twice', secret.replaceAll('"', '&amp;quot;')],
    ['in a URL twice', encodeURIComponent(encodeURIComponent(secret))],
    ['in a URL, every byte', everyByte(secret)],
    ['in a URL within HTML within JSON', inJson(inHtml(encodeURIComponent(secret)))],
    ['in base64 twice', inBase64(inBase64(secret))],
    ['in base64 in a URL', encodeURIComponent(inBase64(secret))],
    ['in base64 of JSON', inBase64(inJson(secret))],
    ['in base64 of a URL', inBase64(encodeURIComponent(secret))],
    ['in base64 of HTML', inBase64(secret.replaceAll('"', '&quot;'))],
    [
      'in Basic within JSON within a URL',
      encodeURIComponent(JSON.stringify({ a: `Basic ${inBase64(`me:${secret}`)}` })),
    ],
    ['in hex of base64', Buffer.from(inBase64(secret)).toString('hex')],
    ['in hex of JSON', Buffer.from(inJson(secret)).toString('hex')],
  ])('%s', (_, said) => {
    expect(text(`before ${said} after`)).toMatch(/^before .*\[redacted\].* after$/);
    expect(text(`before ${said} after`).length).toBeLessThan(`before ${said} after`.length / 2 + 60);
    expect(json({ a: [said] })).not.toEqual({ a: [said] });
  });

  test('and the text around the secret stays', () => {
    const said = JSON.stringify({ a: JSON.stringify({ key: secret, note: 'caf\u00e9 "x" %41 &amp; \\u0041' }) });
    expect(JSON.parse(JSON.parse(text(said)).a)).toEqual({
      key: '[redacted]',
      note: 'caf\u00e9 "x" %41 &amp; \\u0041',
    });
    for (const harmless of [
      '100%',
      '%',
      '%E0%A4%A',
      '&',
      '&#;',
      '&#x110000;',
      '&#99999999;',
      '\\',
      '\\u12',
      '%ff%fe',
      '\\ud800',
    ])
      expect(text(`a ${harmless} b`)).toBe(`a ${harmless} b`);
  });

  test('every occurrence is removed, and overlapping secrets are removed completely', () => {
    expect(text('hunter22hunter22 hunter22')).toBe('[redacted] [redacted]');
    const overlapping = createRedactor(['abcdef', 'defghijkl', 'cdef']);
    expect(overlapping.text('-abcdefghijkl- abcdef cdefghijkl')).toBe('-[redacted]- [redacted] [redacted]');
  });

  test('a secret is found without its surrounding white space', () => {
    expect(createRedactor(['token-1\n']).text('got token-1.')).toBe('got [redacted].');
  });
});

test('secrets are removed from values, names and numbers in JSON, and no field is lost', () => {
  const said = { hunter22: 1, [secret]: { list: ['hunter22!', true, null, 7] }, plain: 'kept' };
  expect(json(said)).toEqual({
    '[redacted]': 1,
    '[redacted] (2)': { list: ['[redacted]!', true, null, 7] },
    plain: 'kept',
  });
  expect(createRedactor(['123456']).json({ pin: 123456, other: 1234567 })).toEqual({
    pin: '[redacted]',
    other: 1234567,
  });
  expect(Object.getOwnPropertyNames(json(JSON.parse('{"__proto__":{"a":"hunter22"}}')))).toEqual(['__proto__']);
});

test('values shorter than four characters are ignored: they would shred the text', () => {
  const said = 'yes, the abc of eu, again and again';
  expect(createRedactor(['a', '', ' ', 'eu', 'abc', '  x ']).text(said)).toBe(said);
});

test('endless nesting does not exhaust the stack', () => {
  let deep: Json = 'hunter22';
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(JSON.stringify(json(deep))).not.toContain('hunter22');
});

const pieces = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('a', 'b', '[', ']', 'r', '*'), minLength: 1, maxLength: 12 }),
  fc.constantFrom('redacted', '[redacted]', 'dact', '****', '•••••', '__proto__'),
);
const secretLists = fc.array(pieces, { minLength: 1, maxLength: 6 });

describe('for all secrets and texts', () => {
  test('no secret is left', () => {
    fc.assert(
      fc.property(secretLists, fc.array(pieces), fc.infiniteStream(fc.nat(20)), (secrets, others, picks) => {
        const parts = [...secrets, ...others];
        const said = Array.from(
          { length: 12 },
          () => [...parts, ...secrets.map(encodeURIComponent)][picks.next().value % (parts.length + 1)] ?? '',
        ).join('');
        const redactor = createRedactor(secrets);
        const left = redactor.text(said);
        const leftJson = redactor.json({ [said]: [said, { said }] });
        const known = secrets.filter(value => value.length >= MIN_SECRET_LENGTH);
        for (const value of known) expect(left).not.toContain(value);
        const strings: string[] = [];
        JSON.stringify(leftJson, (key, value) => {
          strings.push(key, ...(typeof value === 'string' ? [value] : []));
          return value;
        });
        // "said" is the name of a field in this test.
        for (const value of known) if (!'said'.includes(value)) expect(strings.join('\n')).not.toContain(value);
      }),
      { numRuns: 2000 },
    );
  });

  test('text that contains none of them, in any form, is unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.stringMatching(/^[A-Z]{4,12}$/)), fc.jsonValue(), (secrets, value) => {
        const said = JSON.parse(JSON.stringify(value).replace(/[A-Z]/g, 'x')) as Json;
        const redactor = createRedactor(secrets.map(text => `Q${text}Q`));
        expect(redactor.json(said)).toEqual(said);
        expect(redactor.text(JSON.stringify(said))).toBe(JSON.stringify(said));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('for all encodings around each other', () => {
  const encodings: ((value: string) => string)[] = [
    value => JSON.stringify(value).slice(1, -1),
    encodeURIComponent,
    value => value.replace(/[^A-Za-z0-9]/gu, character => `&#${character.codePointAt(0)};`),
    value => value.replace(/[&<>"']/g, character => `&#x${character.charCodeAt(0).toString(16).toUpperCase()};`),
    value =>
      value.replace(
        /./gsu,
        character =>
          `%${Buffer.from(character)
            .toString('hex')
            .replace(/..(?=.)/g, '$&%')}`,
      ),
  ];
  const own = fc.string({
    unit: fc.constantFrom('a', 'B', '7', '"', '\\', '/', '&', '<', '%', '+', ' ', 'é', '🔑'),
    minLength: 9,
    maxLength: 16,
  });
  const layers = fc.array(fc.constantFrom(...encodings), { minLength: 1, maxLength: 3 });
  const around = fc.constantFrom('', 'x', ' %41', '&amp; ', '\\n', '"', ' é ');
  const wrap = (value: string, around: readonly ((value: string) => string)[]) =>
    around.reduce((text, encode) => encode(text), value);

  test('no secret is left, whole or in pieces, and the text around it stays', () => {
    fc.assert(
      fc.property(
        own,
        layers,
        around,
        around,
        fc.array(fc.nat(200), { maxLength: 5 }),
        (value, encode, before, after, cuts) => {
          fc.pre(value.trim().length === value.length);
          const redactor = createRedactor([value]);
          const said = `<<${wrap(before, encode)}>>${wrap(value, encode)}<<${wrap(after, encode)}>>`;
          const left = redactor.text(said);
          expect(left).toMatch(/^<<.*>>.*<<.*>>$/su);
          expect(left.slice(left.indexOf('>>') + 2, left.lastIndexOf('<<'))).not.toContain(wrap(value, encode));
          expect(redactor.text(left)).toBe(left);
          expect(left).not.toBe(said);
          const stream = redactor.stream();
          const places = [0, ...cuts.filter(place => place < said.length), said.length].sort((a, b) => a - b);
          const pieces = places.slice(1).map((place, index) => said.slice(places[index], place));
          const result = [...pieces.map(piece => stream.add(piece)), stream.end()].join('');
          expect(result).toBe(left);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test('a text full of escapes takes time in proportion to its length', () => {
    const redactor = createRedactor([secret, 'hunter22']);
    for (const unit of ['%25', '%2525', '&amp;', '&amp;amp;', '\\\\', '\\u005c', '%26amp%3B', '%5Cu0025']) {
      const started = performance.now();
      redactor.text(unit.repeat(100_000));
      expect(performance.now() - started).toBeLessThan(10_000);
    }
  });
});

describe('a text in pieces', () => {
  const piecewise = (redactor: ReturnType<typeof createRedactor>, pieces: readonly string[]) => {
    const stream = redactor.stream();
    return [...pieces.map(piece => stream.add(piece)), stream.end()];
  };

  test('contains no secret, wherever it is split; a text without one is unchanged', () => {
    const letters = fc.stringMatching(/^[abA+]{4,12}$/);
    const cuts = fc.array(fc.nat(40), { maxLength: 6 });
    fc.assert(
      fc.property(
        letters,
        fc.stringMatching(/^[abA+]{0,20}$/),
        fc.stringMatching(/^[abA+]{0,20}$/),
        cuts,
        fc.boolean(),
        (own, before, after, at, put) => {
          const redactor = createRedactor([own]);
          const whole = put ? `${before}${own}${after}` : before;
          const places = [...at, 0, whole.length].filter(place => place <= whole.length).sort((a, b) => a - b);
          const pieces = places.slice(1).map((place, index) => whole.slice(places[index], place));
          const result = piecewise(redactor, pieces).join('');
          expect(redactor.text(result)).toBe(result);
          if (redactor.text(whole) === whole) expect(result).toBe(whole);
          else expect(result).not.toBe(whole);
        },
      ),
    );
  });

  test('is returned immediately if no secret can begin in it, and the rest at the end', () => {
    const redactor = createRedactor(['hunter22']);
    expect(piecewise(redactor, ['Hello ', 'hunt', 'er on!', ' hunter2'])).toEqual([
      'Hello ',
      '',
      'hunter on!',
      ' ',
      'hunter2',
    ]);
    expect(piecewise(redactor, ['a hunter', '22 b'])).toEqual(['a ', '[redacted] b', '']);
    expect(piecewise(createRedactor([]), ['a', 'b'])).toEqual(['a', 'b', '']);
  });
});
