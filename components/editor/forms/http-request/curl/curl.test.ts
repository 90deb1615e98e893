import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from '@/server/platform/json-text.ts';
import { isCurl, readCurl } from './read-curl.ts';
import { splitCommand } from './shell-words.ts';
import { quoteWord, writeCurl } from './write-curl.ts';

const read = (text: string) => {
  const result = readCurl(text);
  if ('problem' in result) throw new Error(result.problem);
  return result;
};
const fieldsOf = (text: string) => read(text).fields;

/** Returns the words into which a real shell splits each command. */
function shellWords(shell: 'sh' | 'bash', commands: readonly string[]): string[][] {
  const script = [`curl() { printf '%s\\0' "$@"; printf 'end of command\\0'; }`, ...commands].join('\n');
  const { stdout, status, stderr } = spawnSync(shell, ['-c', script], { maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(stderr.toString());
  const found: string[][] = [[]];
  for (const word of stdout.toString().split('\0').slice(0, -1)) {
    if (word === 'end of command') found.push([]);
    else found.at(-1)?.push(word);
  }
  return found.slice(0, -1);
}

describe('a command is split into words', () => {
  const inner = fc.string({
    unit: fc.constantFrom('a', ' ', '#', '|', ';', '&', '*', '{', '}', '^', 'é'),
    maxLength: 5,
  });
  const piece = fc.oneof(
    fc.constantFrom(
      'a',
      '-H',
      '=',
      '{{input.x}}',
      '\\ ',
      '\\\\',
      "\\'",
      '\\"',
      '\\\n',
      '\\$',
      '""',
      "''",
      '"\\x"',
      '"a\\\nb"',
    ),
    inner.map(text => `'${text}"\\'`),
    inner.map(text => `"${text}'\\"\\\\"`),
    fc.constantFrom("$'a\\n\\t'", "$'\\x41\\101\\u00e9'", "$'it\\'s'", "$'\\\\'", "$'\\q'"),
  );
  const command = fc
    .array(
      fc.array(piece, { minLength: 1, maxLength: 4 }).map(pieces => pieces.join('')),
      { minLength: 1, maxLength: 5 },
    )
    .map(words => `curl ${words.join(' ')}`);

  test('as by a real shell', () => {
    const commands = fc.sample(command, 600);
    const own = commands.map(each => splitCommand(each)).map(each => ('words' in each ? each.words.slice(1) : each));
    expect(own).toEqual(shellWords('bash', commands));
  });

  test('without later commands, comments and variables', () => {
    const words = (text: string) => splitCommand(text);
    expect(words('curl a | jq .')).toEqual({ words: ['curl', 'a'], variables: [] });
    expect(words('curl a # why\nls')).toEqual({ words: ['curl', 'a'], variables: [] });
    expect(words(`curl "$TOKEN" \${A} '$B'`)).toEqual({
      words: ['curl', '$TOKEN', `\${A}`, '$B'],
      variables: ['$TOKEN', `\${A}`],
    });
    expect(words('curl \\\r\n  a')).toEqual({ words: ['curl', 'a'], variables: [] });
    for (const open of ["curl 'a", 'curl "a', "curl $'a"]) expect(words(open)).toHaveProperty('problem');
  });

  test('as by Windows, if it was copied for Windows', () => {
    const text = 'curl ^"https://a.test/?q=1^&r=2^" ^\r\n  -H ^"x: say ^\\^"hi^\\^"^" ^\r\n  --data-raw ^"a^%^b^"';
    expect(splitCommand(text)).toEqual({
      words: ['curl', 'https://a.test/?q=1&r=2', '-H', 'x: say "hi"', '--data-raw', 'a%b'],
      variables: [],
    });
  });
});

describe('a curl command becomes a request', () => {
  test('with the usual options', () => {
    expect(fieldsOf("curl 'https://a.test/x?q=a+b&q=c' -H 'Accept: application/json' --compressed")).toEqual({
      url: 'https://a.test/x',
      query: { q: ['a b', 'c'] },
      headers: { Accept: 'application/json' },
    });
    expect(fieldsOf(`curl -sSLX PUT a.test -H'content-type: application/json' -d '{"a": [1, "{{input.x}}"]}'`)).toEqual(
      {
        method: 'PUT',
        url: 'http://a.test',
        body: { a: [1, '{{input.x}}'] },
      },
    );
    expect(
      fieldsOf('curl --url https://a.test -d a=1 -d b=%20 --data-urlencode "c=x&y" -A agent -e https://b.test -m 2.5'),
    ).toEqual({
      method: 'POST',
      url: 'https://a.test',
      form: { a: '1', b: ' ', c: 'x&y' },
      headers: { 'User-Agent': 'agent', Referer: 'https://b.test' },
      timeout_s: 3,
    });
    expect(fieldsOf('curl -G https://a.test/s?x=1 -d q=2 --data-urlencode "r=ü&"')).toEqual({
      url: 'https://a.test/s',
      query: { x: '1', q: '2', r: 'ü&' },
    });
    expect(fieldsOf('curl -I https://a.test')).toEqual({ method: 'HEAD', url: 'https://a.test' });
    expect(fieldsOf(`curl https://a.test --json '{"big": 9007199254740993}'`)).toEqual({
      method: 'POST',
      url: 'https://a.test',
      body: { big: 9007199254740993n },
    });
    expect(
      fieldsOf('curl -XPOST https://a.test -F a=1 -F "f=@/tmp/x.png;type=image/png" -F \'b="x;y"\' --form-string c=@d'),
    ).toEqual({
      method: 'POST',
      url: 'https://a.test',
      multipart: [
        { name: 'a', value: '1' },
        { name: 'f', value: '', filename: 'x.png', content_type: 'image/png' },
        { name: 'b', value: 'x;y' },
        { name: 'c', value: '@d' },
      ],
    });
    expect(fieldsOf("curl https://a.test -H 'Content-Type: text/xml' -d '<a/>'")).toMatchObject({
      text: '<a/>',
      headers: { 'Content-Type': 'text/xml' },
    });
    expect(fieldsOf("curl https://a.test -X GET -d '[1]'")).toEqual({
      url: 'https://a.test',
      body: [1],
      body_with_get: true,
    });
  });

  test('and lists the parts that it does not use', () => {
    const { notices } = read(
      'curl -k --proxy p:1 --nonsense -T up.bin https://a.test -H "Host: b" -d @body.json -b jar.txt',
    );
    expect(notices.join('\n')).toMatch(/--proxy, --nonsense, -T/);
    for (const named of ['body.json', 'jar.txt', 'Host', 'Certificates']) expect(notices.join('\n')).toContain(named);
    for (const none of ['curl', 'curl -H', 'wget https://a.test', 'curl -X POST'])
      expect(readCurl(none)).toHaveProperty('problem');
    expect(['curl x', ' $ curl x', 'curl.exe x', 'curl \\\n x'].map(isCurl)).toEqual([true, true, true, true]);
    expect(['https://curl.se', 'curly x', ''].map(isCurl)).toEqual([false, false, false]);
  });

  const secrets: readonly [string, unknown][] = [
    ["-H 'Authorization: Bearer s3cret'", { preset: 'token', auth: { type: 'bearer' } }],
    ['-u me:s3cret', { preset: 'basic', auth: { type: 'basic' } }],
    ['-ume:s3cret', { preset: 'basic' }],
    [`-H 'authorization: Basic ${btoa('me:s3cret')}'`, { credentials: [{ secret: 'me' }, { secret: 's3cret' }] }],
    ['--oauth2-bearer s3cret', { preset: 'token' }],
    ["-H 'X-API-Key: s3cret'", { preset: 'header', credentials: [{ name: 'X-API-Key', secret: 's3cret' }] }],
    ["-b 'sid=s3cret'", { preset: 'header', credentials: [{ name: 'Cookie' }] }],
    ['https://me:s3cret@a.test/x', { preset: 'basic' }],
    ["'https://a.test/?api_key=s3cret'", { auth: { type: 'query', name: 'api_key', credential: 'api_key' } }],
    ["-H 'Authorization: Token s3cret'", { preset: 'header', auth: { type: 'header' } }],
  ];
  test.each(secrets)('%s is not stored in the step', (option, found) => {
    const { fields, credentials } = read(`curl ${option} ${option.includes('a.test') ? '' : 'https://a.test'}`);
    expect(JSON.stringify(fields)).not.toMatch(/s3cret|Authorization/i);
    expect(credentials).toHaveLength(1);
    expect(credentials[0]).toMatchObject(found as object);
  });

  test('and a template is not a secret', () => {
    const { fields, credentials } = read("curl https://a.test -H 'Authorization: Bearer {{input.token}}'");
    expect(fields.headers).toEqual({ Authorization: 'Bearer {{input.token}}' });
    expect(credentials).toEqual([]);
    expect(read('curl https://a.test -H "Authorization: Bearer $TOKEN"').credentials[0]?.credentials).toEqual([
      { name: 'token', secret: '' },
    ]);
  });

  test('and a secret in the body is reported', () => {
    const { fields, notices } = read(`curl https://a.test --json '{"user": {"password": "s3cret"}}'`);
    expect(fields.body).toEqual({ user: { password: 's3cret' } });
    expect(notices.join()).toMatch(/looks like a secret.*: password/);
    expect(read(`curl https://a.test --json '{"password": "{{input.password}}"}'`).notices).toEqual([]);
  });

  const soup = fc.array(
    fc.oneof(
      fc.constantFrom(
        ...["'", '"', '\\', '^', '\n', '$', ' ', '@', '=', ';', '&', '?', '#', '%', '{{', '}}', ':', 'https://a.test'],
      ),
      fc.constantFrom(
        ...[
          '-H',
          '-d',
          '-F',
          '-u',
          '-G',
          '-b',
          '-X',
          '--json',
          '--data-urlencode',
          '--url',
          '-LkX',
          '--',
          '-',
          "$'",
          '^"',
          '--x=1',
        ],
      ),
      fc.string({ unit: 'binary', maxLength: 5 }),
    ),
    { maxLength: 30 },
  );
  test('or an error, for any pasted text', () => {
    fc.assert(
      fc.property(soup, fc.boolean(), (parts, spaced) => {
        const result = readCurl(`curl ${parts.join(spaced ? ' ' : '')}`);
        if ('problem' in result) expect(result.problem).not.toBe('');
        else expect(typeof result.fields.url).toBe('string');
      }),
      { numRuns: 5_000 },
    );
  });
});

const text = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'aZ0 \'"\\$`!&;|<>()*?#~{}[]@=%,^+-\n\té😀'), maxLength: 8 }),
  fc.constantFrom('{{input.x}}', 'a {{steps.b.result["c d"] ?? "}}"}} e', "{{ '{{' }}", '@file', '<file', '--x'),
);
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'q', 'order', 'x-y'),
  fc.string({ unit: fc.constantFrom(...'ab&+ %é#[]'), minLength: 1, maxLength: 4 }),
);
const parameters = fc.dictionary(name, fc.oneof(text, fc.array(text, { minLength: 2, maxLength: 3 })), {
  minKeys: 1,
  maxKeys: 3,
  noNullPrototype: true,
});
const headerText = fc.string({ unit: fc.constantFrom(...'aZ0\'"\\$;:,'), maxLength: 6 });
const headers = fc.dictionary(
  fc.constantFrom('Accept', 'x-one', 'X-Two', 'If-Match', 'traceparent'),
  fc.oneof(headerText, fc.constant('{{input.h}}')),
  { minKeys: 1, noNullPrototype: true },
);
const part = fc.record(
  {
    name: fc.constantFrom('a', 'file', 'b c'),
    value: text,
    filename: fc.oneof(fc.constantFrom('a.txt', '{{input.name}}.pdf', 'a;b "c".txt', 'x\\y')),
    content_type: fc.constantFrom('text/plain', 'text/csv; charset=utf-8'),
  },
  { requiredKeys: ['name', 'value'], noNullPrototype: true },
);
const body = fc.oneof(
  fc.constant({}),
  fc.jsonValue({ maxDepth: 2 }).map(json => ({ method: 'POST', body: parseJson(JSON.stringify(json)) })),
  fc.record({ method: fc.constantFrom('POST', 'PUT'), form: parameters }, { noNullPrototype: true }),
  fc.record({ method: fc.constantFrom('POST', 'PATCH'), text }, { noNullPrototype: true }),
  fc.record(
    { method: fc.constant('POST'), multipart: fc.array(part, { minLength: 1, maxLength: 3 }) },
    { noNullPrototype: true },
  ),
  fc.constantFrom(
    { method: 'DELETE' },
    { method: 'HEAD' },
    { body: [1], body_with_get: true },
    { method: '{{input.method}}' },
  ),
);
/** Steps that a command can express: without default values, and without fields that send nothing. */
const step = fc
  .tuple(
    fc.record(
      {
        url: fc.constantFrom(
          'https://a.test/x',
          '{{input.url}}',
          'https://a.test/{{input.id}}/[1]',
          "http://a.test:8080/it's",
        ),
      },
      { noNullPrototype: true },
    ),
    fc.record(
      {
        query: parameters,
        headers,
        follow_redirects: fc.constant(false),
        timeout_s: fc.integer({ min: 1, max: 600 }),
        retry_count: fc.integer({ min: 1, max: 9 }),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
    body,
  )
  .map(parts => Object.assign({}, ...parts) as { [field: string]: unknown });

describe('a step becomes a command', () => {
  test('that becomes the same step when pasted', () => {
    fc.assert(
      fc.property(step, each => {
        const { text: command, left } = writeCurl(each);
        expect(left).toEqual([]);
        expect(isCurl(command)).toBe(true);
        const { fields, credentials, notices } = read(command);
        expect(fields).toEqual(each);
        expect({ credentials, notices }).toEqual({ credentials: [], notices: [] });
      }),
      { numRuns: 3_000 },
    );
  });

  test('that sh splits into the same words', () => {
    const steps = fc.sample(step, 300);
    const commands = steps.map(each => writeCurl(each).text);
    const own = commands.map(each => splitCommand(each)).map(each => ('words' in each ? each.words.slice(1) : each));
    expect(shellWords('sh', commands)).toEqual(own);
    const words = fc
      .sample(fc.string({ unit: 'binary', maxLength: 20 }), 300)
      .map(each => each.toWellFormed().replaceAll('\0', ''));
    expect(
      shellWords(
        'sh',
        words.map(each => `curl ${quoteWord(each)}`),
      ),
    ).toEqual(words.map(each => [each]));
  });

  test('without secrets', () => {
    const { text: command, left } = writeCurl({
      method: 'POST',
      url: 'https://me:s3cret@a.test/?token=s3cret&a=1',
      query: { api_key: 's3cret', page: 2, gone: null },
      headers: { Authorization: 'Bearer s3cret', 'X-Api-Key': 's3cret', Cookie: 'sid=s3cret', Accept: 'text/csv' },
      body: { password: 's3cret', user: { client_secret: 's3cret', name: '{{input.name}}' } },
      connection_id: 'c',
    });
    expect(command).not.toContain('s3cret');
    expect(command).toContain('https://a.test/?a=1&page=2');
    expect(left.join()).toMatch(/Authorization.*X-Api-Key.*Cookie/);
    expect(left).toContain('the credentials of the connection');
    expect(writeCurl({ url: 'https://a.test', method: 'POST', form: { password: 's3cret' } }).text).not.toContain(
      's3cret',
    );
    expect(
      writeCurl({ url: 'https://a.test', method: 'POST', multipart: [{ name: 'password', value: 's3cret' }] }).text,
    ).not.toContain('s3cret');
    expect(writeCurl({ url: 'https://a.test', headers: { Authorization: 'Bearer {{input.t}}' } }).text).toContain(
      '{{input.t}}',
    );
  });
});
