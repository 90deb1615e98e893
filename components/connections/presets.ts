/** A row of the form: the name of a credential and, while it is being typed, its secret. */
export type CredentialDraft = { key: string; name: string; secret: string };

export type Preset = {
  value: string;
  label: string;
  hint: string;
  service: string;
  credentials: readonly string[];
  /** Settings that are not secret. */
  config: Readonly<Record<string, string>>;
};

/** Common ways to authenticate, with the credential names that calls look up. */
export const presets: readonly Preset[] = [
  {
    value: 'api_key',
    label: 'API key',
    hint: 'One key, sent as a bearer token to servers that expect a token.',
    service: 'api_key',
    credentials: ['api_key'],
    config: {},
  },
  {
    value: 'token',
    label: 'Bearer token',
    hint: 'Sent as “Authorization: Bearer …”.',
    service: 'token',
    credentials: ['token'],
    config: {},
  },
  {
    value: 'header',
    label: 'HTTP headers',
    hint: 'Each name is a header name, such as X-API-Key.',
    service: 'header',
    credentials: ['X-API-Key'],
    config: {},
  },
  {
    value: 'basic',
    label: 'Username and password',
    hint: 'For HTTP basic authentication and similar.',
    service: 'basic',
    credentials: ['username', 'password'],
    config: {},
  },
  {
    value: 'database',
    label: 'Database',
    hint: 'The address goes into the settings. The username and password are secret.',
    service: 'database',
    credentials: ['username', 'password'],
    config: { host: '', port: '', database: '' },
  },
  {
    value: 'other',
    label: 'Custom',
    hint: 'Any names and values.',
    service: 'custom',
    credentials: [''],
    config: {},
  },
];

let draftCount = 0;
/** Returns a row with a key that keeps React's input while rows are added and removed. */
export function draftOf(name: string): CredentialDraft {
  draftCount += 1;
  return { key: String(draftCount), name, secret: '' };
}

const namePattern = /^[A-Za-z0-9_.-]{1,64}$/;

/** Returns the problem of the rows, or null. The message contains no secret. */
export function problemOf(rows: readonly CredentialDraft[], taken: readonly string[] = []): string | null {
  const names = [...taken, ...rows.map(row => row.name.trim())];
  if (names.length === 0) return 'Add at least one credential.';
  const bad = rows.find(row => !namePattern.test(row.name.trim()));
  if (bad) return 'A name has 1 to 64 letters, digits, “_”, “.” or “-”.';
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `The name “${twice}” is used twice.`;
  const empty = rows.find(row => row.secret === '');
  return empty ? `The secret of “${empty.name.trim()}” is missing.` : null;
}

/** Returns the credentials in the form of the API. */
export function credentialsOf(rows: readonly CredentialDraft[]): Record<string, string> {
  return Object.fromEntries(rows.map(row => [row.name.trim(), row.secret]));
}
