/** The supported options of curl, by long name. */
export type CurlOption =
  | 'request'
  | 'header'
  | 'data'
  | 'data-raw'
  | 'data-urlencode'
  | 'json'
  | 'form'
  | 'form-string'
  | 'user'
  | 'oauth2-bearer'
  | 'get'
  | 'head'
  | 'url'
  | 'url-query'
  | 'cookie'
  | 'user-agent'
  | 'referer'
  | 'location'
  | 'no-location'
  | 'insecure'
  | 'max-time'
  | 'retry';

type Meaning = { option: CurlOption | null; takesValue: boolean };

const withValue = (option: CurlOption): Meaning => ({ option, takesValue: true });
const flag = (option: CurlOption): Meaning => ({ option, takesValue: false });
/** Options about displaying or storing the response, which a step does not need. */
const ignored: Meaning = { option: null, takesValue: false };
const ignoredWithValue: Meaning = { option: null, takesValue: true };

const LONG: ReadonlyMap<string, Meaning> = new Map([
  ...(
    [
      ...['request', 'header', 'data', 'data-raw', 'data-urlencode', 'json', 'form', 'form-string', 'user'],
      ...['oauth2-bearer', 'url', 'url-query', 'cookie', 'user-agent', 'referer', 'max-time', 'retry'],
    ] as CurlOption[]
  ).map(name => [name, withValue(name)] as const),
  ...(['get', 'head', 'location', 'no-location', 'insecure'] as CurlOption[]).map(name => [name, flag(name)] as const),
  ['data-ascii', withValue('data')],
  ['data-binary', withValue('data')],
  ['location-trusted', flag('location')],
  ...[
    ...[
      'compressed',
      'no-compressed',
      'compressed-ssh',
      'tr-encoding',
      'silent',
      'show-error',
      'verbose',
      'include',
      'show-headers',
    ],
    ...[
      'fail',
      'fail-with-body',
      'fail-early',
      'globoff',
      'no-buffer',
      'buffer',
      'progress-bar',
      'no-progress-meter',
      'progress-meter',
    ],
    ...[
      'remote-name',
      'remote-header-name',
      'create-dirs',
      'http1.0',
      'http1.1',
      'http2',
      'http2-prior-knowledge',
      'http3',
      'http3-only',
    ],
    ...[
      'ipv4',
      'ipv6',
      'keepalive',
      'no-keepalive',
      'path-as-is',
      'post301',
      'post302',
      'post303',
      'basic',
      'raw',
      'styled-output',
    ],
    ...[
      'no-styled-output',
      'parallel',
      'disable',
      'tcp-nodelay',
      'tcp-fastopen',
      'tlsv1',
      'tlsv1.0',
      'tlsv1.1',
      'tlsv1.2',
      'tlsv1.3',
    ],
    ...[
      'retry-all-errors',
      'retry-connrefused',
      'junk-session-cookies',
      'no-sessionid',
      'no-alpn',
      'no-npn',
      'ssl',
      'ssl-reqd',
    ],
  ].map(name => [name, ignored] as const),
  ...[
    ...[
      'output',
      'output-dir',
      'write-out',
      'dump-header',
      'cookie-jar',
      'stderr',
      'trace',
      'trace-ascii',
      'connect-timeout',
    ],
    ...['expect100-timeout', 'happy-eyeballs-timeout-ms', 'keepalive-time', 'limit-rate', 'max-filesize', 'max-redirs'],
    ...['retry-delay', 'retry-max-time', 'speed-limit', 'speed-time', 'rate', 'parallel-max', 'libcurl'],
  ].map(name => [name, ignoredWithValue] as const),
]);

const SHORT: Readonly<Record<string, string>> = {
  X: 'request',
  H: 'header',
  d: 'data',
  F: 'form',
  u: 'user',
  G: 'get',
  I: 'head',
  b: 'cookie',
  A: 'user-agent',
  e: 'referer',
  L: 'location',
  k: 'insecure',
  m: 'max-time',
  s: 'silent',
  S: 'show-error',
  v: 'verbose',
  i: 'include',
  f: 'fail',
  g: 'globoff',
  N: 'no-buffer',
  '#': 'progress-bar',
  O: 'remote-name',
  J: 'remote-header-name',
  o: 'output',
  w: 'write-out',
  D: 'dump-header',
  c: 'cookie-jar',
  Z: 'parallel',
  q: 'disable',
  j: 'junk-session-cookies',
  '0': 'http1.0',
  '1': 'tlsv1',
  '4': 'ipv4',
  '6': 'ipv6',
  y: 'speed-time',
  Y: 'speed-limit',
};

/** Unsupported options with a value, so that their value is not mistaken for a URL. */
const UNREAD_WITH_VALUE: ReadonlySet<string> = new Set([
  ...['-x', '-T', '-E', '-K', '-r', '-z', '-C', '-P', '-Q', '-t', '-h', '-U'],
  ...[
    '--proxy',
    '--upload-file',
    '--cert',
    '--key',
    '--cacert',
    '--capath',
    '--config',
    '--range',
    '--time-cond',
    '--continue-at',
  ],
  ...[
    '--proxy-user',
    '--proxy-header',
    '--noproxy',
    '--preproxy',
    '--socks5',
    '--socks5-hostname',
    '--socks4',
    '--socks4a',
    '--resolve',
  ],
  ...[
    '--connect-to',
    '--interface',
    '--dns-servers',
    '--doh-url',
    '--aws-sigv4',
    '--cert-type',
    '--key-type',
    '--pass',
    '--ciphers',
  ],
  ...[
    '--tls13-ciphers',
    '--curves',
    '--tls-max',
    '--pinnedpubkey',
    '--crlfile',
    '--unix-socket',
    '--abstract-unix-socket',
    '--netrc-file',
  ],
  ...[
    '--local-port',
    '--proto',
    '--proto-default',
    '--proto-redir',
    '--request-target',
    '--service-name',
    '--login-options',
    '--engine',
  ],
  ...[
    '--hsts',
    '--alt-svc',
    '--etag-save',
    '--etag-compare',
    '--variable',
    '--expand-url',
    '--expand-header',
    '--expand-data',
    '--ssl-sessions',
  ],
]);

/** An argument of a command line: an option with its value, a URL, or the name of an unsupported option. */
export type CurlArgument =
  | { kind: 'option'; option: CurlOption; value: string }
  | { kind: 'url'; url: string }
  | { kind: 'unread'; name: string };

/** Parses the words after `curl` as options and URLs. */
export function readArguments(words: readonly string[]): CurlArgument[] {
  const found: CurlArgument[] = [];
  let at = 0;
  let onlyUrls = false;
  const next = () => words[at++] ?? '';
  const add = (meaning: Meaning, value: string) => {
    if (meaning.option !== null) found.push({ kind: 'option', option: meaning.option, value });
  };
  const addUnread = (name: string) => {
    found.push({ kind: 'unread', name });
    if (UNREAD_WITH_VALUE.has(name)) at++;
  };
  const readShort = (letters: string) => {
    for (let index = 0; index < letters.length; index++) {
      const letter = letters[index] ?? '';
      const meaning = LONG.get(Object.hasOwn(SHORT, letter) ? (SHORT[letter] ?? '') : '');
      const rest = letters.slice(index + 1);
      // `-XPOST`: the text after the letter is the value.
      if (meaning?.takesValue) return add(meaning, rest === '' ? next() : rest);
      if (meaning !== undefined) add(meaning, '');
      else if (UNREAD_WITH_VALUE.has(`-${letter}`) && rest !== '')
        return void found.push({ kind: 'unread', name: `-${letter}` });
      else addUnread(`-${letter}`);
    }
  };
  while (at < words.length) {
    const word = next();
    if (onlyUrls || word === '-' || !word.startsWith('-')) {
      if (word !== '') found.push({ kind: 'url', url: word });
    } else if (word === '--') onlyUrls = true;
    else if (!word.startsWith('--')) readShort(word.slice(1));
    else {
      const [, name = '', , given] = /^--([^=]*)(=([\s\S]*))?$/.exec(word) ?? [];
      const meaning = LONG.get(name);
      if (meaning === undefined) addUnread(`--${name}`);
      else add(meaning, meaning.takesValue ? (given ?? next()) : '');
    }
  }
  return found;
}
