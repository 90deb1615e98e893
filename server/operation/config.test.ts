import { describe, expect, test } from 'vitest';
import { editDistance } from '../platform/environment.ts';
import { ConfigError, configVariables, readConfig, unknownVariables } from './config.ts';

const problems = (env: Record<string, string>) => {
  try {
    readConfig({ NODE_ENV: 'test', ...env });
    return '';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
};

describe('the private network', () => {
  test('is closed, except for the listed hosts, addresses and networks', () => {
    expect(readConfig({}).egress.allowPrivate).toEqual([]);
    const listed = readConfig({ BATON_ALLOW_PRIVATE_NETWORK: ' mcp.internal, 10.1.0.0/16,,::1 ' });
    expect(listed.egress.allowPrivate).toEqual(['mcp.internal', '10.1.0.0/16', '::1']);
  });

  test.each(['http://host', '10.0.0.0/33', 'host:80', '*'])('is not opened by %s', entry => {
    const found = problems({ BATON_ALLOW_PRIVATE_NETWORK: `10.0.0.0/8,${entry}` });
    expect(found).toContain('BATON_ALLOW_PRIVATE_NETWORK: ');
    expect(found).toContain(`"${entry}"`);
  });
});

describe('the secret store', () => {
  const vault = { BATON_SECRET_STORE: 'vault', BATON_VAULT_ADDR: 'https://vault.example:8200/' };
  const role = { BATON_VAULT_ROLE_ID: 'r', BATON_VAULT_SECRET_ID: 's' };

  test('is the database by default, even if variables of Vault are set', () => {
    expect(readConfig({}).secrets.vault).toBeNull();
    expect(readConfig({ BATON_VAULT_TOKEN: 't' }).secrets.vault).toBeNull();
  });

  test('is Vault with a token, or with a role', () => {
    expect(readConfig({ ...vault, BATON_VAULT_TOKEN: 't', BATON_VAULT_NAMESPACE: 'team' }).secrets.vault).toEqual({
      address: 'https://vault.example:8200',
      mount: 'secret',
      prefix: 'baton',
      namespace: 'team',
      credentials: { token: 't' },
    });
    const withRole = readConfig({ ...vault, ...role, BATON_VAULT_MOUNT: 'kv/team', BATON_VAULT_PREFIX: 'a/b' });
    expect(withRole.secrets.vault).toMatchObject({
      mount: 'kv/team',
      prefix: 'a/b',
      credentials: { roleId: 'r', secretId: 's' },
    });
  });

  test.each([
    ['without an address', { BATON_SECRET_STORE: 'vault', BATON_VAULT_TOKEN: 't' }, 'BATON_VAULT_ADDR'],
    ['without a credential', vault, 'BATON_VAULT_TOKEN'],
    ['with half a role', { ...vault, BATON_VAULT_ROLE_ID: 'r' }, 'BATON_VAULT_TOKEN'],
    ['with two credentials', { ...vault, ...role, BATON_VAULT_TOKEN: 't' }, 'BATON_VAULT_TOKEN'],
    ['at something else', { ...vault, BATON_VAULT_TOKEN: 't', BATON_VAULT_ADDR: 'ftp://vault' }, 'BATON_VAULT_ADDR'],
    ['in a folder that climbs', { ...vault, BATON_VAULT_TOKEN: 't', BATON_VAULT_PREFIX: '../x' }, 'BATON_VAULT_PREFIX'],
  ])('is not Vault %s', (_, env, variable) => expect(problems(env)).toContain(`${variable}: `));
});

test.each([
  [{}, { maxInFlight: 512, maxInFlightPerTenant: 256, maxCallsInFlight: 2_048 }],
  [{ BATON_MAX_IN_FLIGHT: '1' }, { maxInFlight: 1, maxInFlightPerTenant: 1, maxCallsInFlight: 4 }],
])('the slots of a process determine those of a workspace and of calls: %j', (env, slots) => {
  expect(readConfig(env).orchestrator).toMatchObject(slots);
});

test('a workspace may fill half of the memory for runs, which is half of the whole', () => {
  const { memory } = readConfig({ BATON_MEMORY_MIB: '400' }).orchestrator;
  expect([memory.liveBytes, memory.liveBytesPerTenant]).toEqual([200 * 1024 * 1024, 100 * 1024 * 1024]);
});

describe('an empty variable', () => {
  test('counts as unset', () => {
    for (const empty of ['', ' \t']) {
      expect(readConfig(Object.fromEntries(configVariables.map(name => [name, empty])))).toEqual(readConfig({}));
    }
    const limit = 'BATON_RATE_LIMIT_SIGN_IN_PER_MINUTE';
    expect(readConfig({ [limit]: '' }).http.rateLimit.signIn).toBe(10);
    expect(readConfig({ [limit]: '0' }).http.rateLimit.signIn).toBe(0);
  });
});

describe('an unknown variable', () => {
  test.each([
    ['BATON_RATE_LIMT_PER_MINUTE', 'BATON_RATE_LIMIT_PER_MINUTE'],
    ['BATON_RETENTION_DAY', 'BATON_RETENTION_DAYS'],
    ['BATON_MASTERKEY', 'BATON_MASTER_KEY'],
    ['BATON_PORT', 'PORT'],
    ['BATON_DATABASE_URL', 'DATABASE_URL'],
  ])('a warning about %s suggests %s', (name, meant) => {
    expect(unknownVariables({ [name]: 'x' })).toEqual([
      `${name} is not a setting and is ignored: did you mean ${meant}?`,
    ]);
  });

  test('gets a warning without a suggestion if no name is similar, and its value is never repeated', () => {
    expect(unknownVariables({ BATON_COLOUR_OF_THE_SHED: 'sw0rdfish' })).toEqual([
      'BATON_COLOUR_OF_THE_SHED is not a setting and is ignored',
    ]);
  });

  test('that is a former setting is reported with its replacement, even if its name does not begin with BATON_', () => {
    expect(unknownVariables({ BATON_MAX_CALLS_IN_FLIGHT: '9', OTEL_BSP_SCHEDULE_DELAY: '10' })).toEqual([
      'BATON_MAX_CALLS_IN_FLIGHT is no longer a setting and is ignored: it is four times BATON_MAX_IN_FLIGHT',
      'OTEL_BSP_SCHEDULE_DELAY is no longer a setting and is ignored: it is 5000',
    ]);
  });

  test('is ignored if it is empty, known, for the tests, or does not belong to Baton', () => {
    const known = Object.fromEntries(configVariables.map(name => [name, 'x']));
    expect(unknownVariables({ ...known, BATON_TEST_BROWSER: 'x', BATON_NONE: '', TOKEN: 'x' })).toEqual([]);
  });

  test('is compared by the letters that differ', () => {
    expect([editDistance('', 'abc'), editDistance('kitten', 'sitting'), editDistance('same', 'same')]).toEqual([
      3, 3, 0,
    ]);
  });
});

describe('nonsense', () => {
  // The variables that accept any text: names, secrets, and parameters of other services.
  const free =
    /PASSWORD|SECRET|TOKEN$|ROLE_ID|NAMESPACE|CLIENT_ID|SCOPES|GROUPS_CLAIM|PARAMS|DATA_DIR|SERVICE_NAME|STRIPE_.*KEY|PLANS_FILE|OWNER_EMAIL|BATON_PAT$/;
  test.each(configVariables.filter(name => !free.test(name)))('in %s is one line that does not repeat it', name => {
    const lines = problems({ [name]: '\u{1F980} sw0rdfish!' }).split('\n');
    expect(lines).toEqual([expect.stringMatching(new RegExp(`^${name}: .{5,}`))]);
    if (name !== 'BATON_ALLOW_PRIVATE_NETWORK') expect(lines[0]).not.toContain('sw0rdfish');
  });

  test('everywhere is one list', () => {
    const lines = problems({ PORT: '65536', HOST: 'a b', BATON_URL: 'ftp://x', BATON_MASTER_KEY: 'x', PORTS: 'x' });
    expect(lines.split('\n').map(line => line.split(':')[0])).toEqual([
      'PORT',
      'HOST',
      'BATON_URL',
      'BATON_MASTER_KEY',
    ]);
  });
});

describe('the database', () => {
  test.each([
    ['mysql://u:sw0rdfish@h/db', 'not mysql://'],
    ['h:5432/db', 'must be a URL such as postgresql://'],
    ['postgresql://u:sw0rdfish@h:99999/db', 'must be a URL such as postgresql://'],
    [
      'postgresql://u:sw0rdfish@h/db?sslrootcert=/no/ca.pem',
      'the file /no/ca.pem that sslrootcert names cannot be read (ENOENT)',
    ],
    ['postgresql://u:sw0rdfish@h/db?port=x', 'must be a URL such as postgresql://'],
    ['postgresql://u:sw0rdfish@h/db?sslmode=disabled', 'its sslmode must be one of disable, '],
    ['postgresql://u:sw0rdfish@h/db?sslkey=/', 'the file / that sslkey names cannot be read (EISDIR)'],
  ])('is not at %s', (url, problem) => {
    const found = problems({ DATABASE_URL: url });
    expect(found).toMatch(/^DATABASE_URL: [^\n]+$/);
    expect(found).toContain(problem);
    expect(found).not.toContain('sw0rdfish');
  });

  test.each(['postgres://h/db', 'postgresql://u:p@[::1]:5432/db?sslmode=disable', 'postgresql://%2Ftmp/db'])(
    'may be at %s',
    url => expect(readConfig({ DATABASE_URL: url }).database.url).toBe(url),
  );
});

test('replication can only be required of an external database', () => {
  expect(problems({ BATON_REPLICATION: 'require' })).toBe(
    'BATON_REPLICATION: require needs DATABASE_URL: the embedded PostgreSQL has no replicas',
  );
  const required = readConfig({ BATON_REPLICATION: 'require', DATABASE_URL: 'postgres://u:p@db1,db2/b' });
  expect(required.database).toMatchObject({ url: 'postgres://u:p@db1,db2/b', replication: 'require' });
  expect(readConfig({}).database.replication).toBe('warn');
  expect(problems({ BATON_REPLICATION: 'maybe' })).toMatch(/^BATON_REPLICATION: [^\n]+$/);
});

test.each(['ftp://x', 'x.example', 'https://x/?a', 'https://x/#a', 'https://u@x/'])('the public URL is not %s', url => {
  expect(problems({ BATON_URL: url })).toMatch(/^BATON_URL: must [^\n]+$/);
});

describe('a cluster', () => {
  const on = {
    BATON_CLUSTER: 'on',
    DATABASE_URL: 'postgres://h/db',
    BATON_MASTER_KEY: Buffer.alloc(32).toString('base64'),
  };

  test('is off by default', () => expect(readConfig({}).cluster).toBeNull());

  test('needs a database and a master key that its nodes share', () => {
    expect(problems({ BATON_CLUSTER: 'on' }).split('\n')).toEqual([
      'BATON_CLUSTER: on needs DATABASE_URL: the embedded database serves one process only',
      'BATON_CLUSTER: on needs BATON_MASTER_KEY: every node needs the same key',
    ]);
  });

  test('has nodes that lead, at an address that is found, unless they are told otherwise', () => {
    expect(readConfig(on).cluster).toEqual({
      nodeUrl: undefined,
      leads: true,
      shards: 1,
      publicUrl: undefined,
    });
    const told = {
      BATON_NODE_URL: 'http://[fd00::5]:3000/',
      BATON_CLUSTER_LEADS: 'off',
      BATON_SHARDS: '1024',
      BATON_URL: 'https://baton.example/',
    };
    expect(readConfig({ ...on, ...told }).cluster).toEqual({
      nodeUrl: 'http://[fd00::5]:3000',
      leads: false,
      shards: 1_024,
      publicUrl: 'https://baton.example',
    });
    for (const shards of ['0', '3', '-1', '0.5', '2048', 'many'])
      expect(problems({ ...on, BATON_SHARDS: shards })).toBe('BATON_SHARDS: must be a power of two up to 1024');
  });

  test('serves the demo only if configured, because its sessions are in one process', () => {
    const seeded = { ...on, BATON_SEED: 'example' };
    expect([readConfig(seeded).demoMcp, readConfig({ ...seeded, BATON_DEMO_MCP: 'true' }).demoMcp]).toEqual([
      false,
      true,
    ]);
  });

  test.each(['http://h:1/path', 'http://u@h:1', 'h:1', 'http://h:1?a'])('has no node at %s', url => {
    expect(problems({ ...on, BATON_NODE_URL: url })).toMatch(/^BATON_NODE_URL: must [^\n]+$/);
  });
});

describe('the host', () => {
  test.each(['http://x', 'a/b', '300.0.0.1', '[::1]', 'fe80::1%eth0'])('is not %s', host => {
    expect(problems({ HOST: host })).toMatch(/^HOST: must be an IP address or a host name/);
  });
  test.each([
    ['::1', 'http://[::1]:3000'],
    ['0.0.0.0', 'http://0.0.0.0:3000'],
    ['my_box.local', 'http://my_box.local:3000'],
  ])('may be %s', (host, url) => expect(readConfig({ HOST: host }).http.url).toBe(url));
});

describe('billing', () => {
  const external = { DATABASE_URL: 'postgresql://baton@db.example.com:5432/baton' };
  const stripe = {
    BATON_STRIPE_SECRET_KEY: 'sk',
    BATON_STRIPE_PUBLISHABLE_KEY: 'pk',
    BATON_STRIPE_WEBHOOK_SECRET: 'whsec',
  };
  const modeOf = (env: Record<string, string>) => readConfig({ NODE_ENV: 'test', ...env }).billing.mode;

  test('is metered on the embedded database, unless plans or payments are configured', () => {
    expect(modeOf({})).toBe('metered');
    expect(modeOf(external)).toBe('on');
    expect(modeOf(stripe)).toBe('on');
    expect(modeOf({ BATON_PLANS_FILE: 'plans.json' })).toBe('on');
  });

  test('is what the operator chooses, also by its former names', () => {
    for (const mode of ['off', 'metered', 'on']) expect(modeOf({ ...external, BATON_BILLING: mode })).toBe(mode);
    expect(modeOf({ BATON_BILLING: 'enforce' })).toBe('on');
    expect(modeOf({ ...external, BATON_BILLING: 'meter' })).toBe('metered');
    expect(problems({ BATON_BILLING: 'free' })).toBe('BATON_BILLING: must be off, metered or on');
  });

  test('cannot be off if customers pay', () => {
    expect(problems({ ...stripe, BATON_BILLING: 'off' })).toContain('BATON_BILLING: must not be off');
    expect(modeOf({ ...stripe, BATON_BILLING: 'metered' })).toBe('metered');
  });
});
