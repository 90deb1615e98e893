import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ESTree, parseSync, Visitor } from 'vite';
import { describe, expect, test } from 'vitest';
import { configVariables } from './operation/config.ts';
import { BILLABLE_ACTIONS } from './orchestrator/ports/billable-actions.ts';
import { STEP_TYPES } from './orchestrator/steps/descriptions.ts';

/**
 * The rules of ARCHITECTURE.md that a formatter cannot know. Import cycles, `any` and the length of functions are Biome's.
 * Each rule collects every breach, so that one run shows them all.
 */
const root = fileURLToPath(new URL('..', import.meta.url));
const tracked = globSync(['{app,bench,bin,components,e2e,server}/**/*.{ts,tsx,mjs,css}', '*.{ts,mjs}'], {
  cwd: root,
  exclude: path => /(^|\/)(generated|node_modules)$/.test(path),
}).filter(path => path !== 'next-env.d.ts');
const files = tracked.map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }));
const isTest = (path: string) =>
  /\.(test|spec)\.tsx?$/.test(path) || /(^|\/)(testing|e2e|bench|fixtures|simulation)\//.test(path);
const product = files.filter(({ path }) => !isTest(path));

const programs = new Map<string, ESTree.Program>();

/** Returns the syntax tree of a file, parsed once. Throws if it is not valid. */
function programOf(path: string, text: string): ESTree.Program {
  const known = programs.get(path);
  if (known) return known;
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
  programs.set(path, program);
  return program;
}

/** `to` is a path of this repository, or the name of a package. */
type Import = { from: string; to: string; isPackage: boolean; typeOnly: boolean };

/** Returns every import, export from and import() in the syntax tree of a file. */
function importsOf(path: string, text: string): Import[] {
  const found: Import[] = [];
  const add = (specifier: string, typeOnly: boolean) => {
    const isPackage = !/^(\.|@\/)/.test(specifier);
    const local = specifier.startsWith('@/') ? specifier.slice(2) : normalize(join(dirname(path), specifier));
    found.push({ from: path, to: isPackage ? specifier : local, isPackage, typeOnly });
  };
  new Visitor({
    ImportDeclaration({ source, importKind }) {
      add(source.value, importKind === 'type');
    },
    ExportNamedDeclaration({ source, exportKind }) {
      if (source !== null) add(source.value, exportKind === 'type');
    },
    ExportAllDeclaration({ source, exportKind }) {
      add(source.value, exportKind === 'type');
    },
    ImportExpression({ source }) {
      add(source.type === 'Literal' ? String(source.value) : '(computed)', false);
    },
    TSImportType({ source }) {
      add(source.value, true);
    },
  }).visit(programOf(path, text));
  return found;
}

const isConstantName = (name: string) => /^[A-Z][A-Z0-9_]*$/.test(name);

/** The module-level constants of a file that hold a number, or a product of numbers, under a name in lower case. */
function numbersOf(path: string, text: string): string[] {
  const isNumber = (node: ESTree.Node): boolean =>
    node.type === 'BinaryExpression'
      ? isOperand(node.left) && isOperand(node.right)
      : node.type === 'Literal' && typeof node.value === 'number';
  const isOperand = (node: ESTree.Node): boolean =>
    isNumber(node) || (node.type === 'Identifier' && isConstantName(node.name));
  return programOf(path, text).body.flatMap(statement => {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type !== 'VariableDeclaration' || declared.kind !== 'const') return [];
    return declared.declarations.flatMap(({ id, init }) =>
      id.type === 'Identifier' && init && isNumber(init) && !isConstantName(id.name) ? [id.name] : [],
    );
  });
}

/** Returns the string literals of a file. The expressions in templates are left out. */
function literalsOf(path: string, text: string): string[] {
  const found: string[] = [];
  new Visitor({
    TemplateLiteral({ quasis }) {
      found.push(quasis.map(({ value }) => value.raw).join('$'));
    },
    Literal({ value }) {
      if (typeof value === 'string') found.push(value);
    },
  }).visit(programOf(path, text));
  return found;
}
const allImports = product
  .filter(({ path }) => !path.endsWith('.css'))
  .flatMap(({ path, text }) => importsOf(path, text));
const imports = allImports.filter(({ isPackage }) => !isPackage);

/**
 * Lowest first: a file may import from its own layer and from those below it. In one sentence: platform → core → orchestrator →
 * operation → domains → api → process, and the console. The core imports nothing but itself.
 */
const layers: [name: string, pattern: RegExp][] = [
  ['platform', /^server\/platform\//],
  ['core', /^server\/orchestrator\/core\//],
  ['orchestrator', /^server\/orchestrator\//],
  ['operation', /^server\/operation\//],
  ['domains', /^server\/domains\//],
  ['api', /^server\/api\//],
  // The process, which connects all layers, and the console that it serves.
  ['process', /^(server\/(process|commands)\/|bin\/|app\/|components\/)/],
];
const layerOf = (path: string) => layers.findIndex(([, pattern]) => pattern.test(path));

/** The server files that the console may run: declarations and pure functions, without anything of Node. */
const sharedWithConsole =
  /^server\/(orchestrator\/(core\/|cache-limits\.ts$|ports\/(authority|billable-actions)\.ts$|languages\/(cel\/syntax|language-help|templates)\.ts$|steps\/((credential-words|descriptions|step-finding|step-help|step-previews|summary)\.ts$|[^/]+\/(description|help|preview)\.ts$|preview-parts\.ts$))|domains\/([^/]+\/([^/]+\/)?schemas\.ts$|runs\/reading\/run-state\.ts$|webhooks\/presets\/catalog\.ts$|workflows\/edits\/)|operation\/(wire|trpc-transformer|mentions|request-headers)\.ts$|platform\/((byte-cache|clock|json|json-text)\.ts$|json-schema\/))/;

const breaches = (found: Import[]) => found.map(({ from, to }) => `${from} imports ${to}`);

describe('dependencies point one way', () => {
  test('the scan sees the code', () => {
    expect(files.length).toBeGreaterThan(50);
    expect(imports.length).toBeGreaterThan(100);
    const text = [
      "import type {\n  A,\n} from './b.ts';",
      "import { type B } from './b.ts';",
      "import 'x';",
      'export * from "@/app/d.ts"; export type { E } from "./e.ts";',
      "const c = await import('../c.ts'); let f: import('./f.ts').F; await import(c);",
    ].join('\n');
    const found = importsOf('server/a.ts', text).map(({ to, isPackage, typeOnly }) => [to, isPackage, typeOnly]);
    expect(found).toEqual([
      ['server/b.ts', false, true],
      // The import stays, for its side effects.
      ['server/b.ts', false, false],
      ['x', true, false],
      ['app/d.ts', false, false],
      ['server/e.ts', false, true],
      ['c.ts', false, false],
      ['server/f.ts', false, true],
      ['(computed)', true, false],
    ]);
  });

  test('no layer of the server imports from one above it', () => {
    const upward = imports.filter(({ from, to }) => layerOf(from) >= 0 && layerOf(from) < layerOf(to));
    expect(breaches(upward)).toEqual([]);
  });

  test('every file belongs to a layer', () => {
    const outside = product.filter(({ path }) => path.includes('/') && layerOf(path) < 0).map(({ path }) => path);
    expect(outside).toEqual([]);
  });

  test('what tests share is in server/testing, by concern', () => {
    expect(tracked.filter(path => /(^|[-.])testing[-.]/.test(basename(path)))).toEqual([]);
  });

  /** The folder right below `base` that holds a file; '' for a file in `base` itself, null outside of it. */
  const folderIn = (base: string, path: string) =>
    path.startsWith(base) ? (path.slice(base.length).split('/').slice(0, -1)[0] ?? '') : null;

  /** Returns the pairs of folders right below `base` in which the first imports the second. */
  const folderPairs = (base: string) => {
    const pairs = new Set<string>();
    for (const { from, to } of imports) {
      const [a, b] = [folderIn(base, from), folderIn(base, to)];
      if (a && b && a !== b) pairs.add(`${a} ${b}`);
    }
    return pairs;
  };

  /** The pairs of folders right below `base` that import each other. */
  const mutual = (base: string) => {
    const pairs = folderPairs(base);
    return [...pairs].filter(pair => pairs.has(pair.split(' ').reverse().join(' '))).sort();
  };

  /** Returns the pairs of folders right below `base` that lie on a cycle of any length, or between two cycles. */
  const circular = (base: string) => {
    let pairs = [...folderPairs(base)].map(pair => pair.split(' '));
    // A folder that imports no other folder, or that no other folder imports, lies on no cycle.
    for (let before = -1; before !== pairs.length; ) {
      before = pairs.length;
      const [importing, imported] = [new Set(pairs.map(([from]) => from)), new Set(pairs.map(([, to]) => to))];
      pairs = pairs.filter(([from, to]) => imported.has(from) && importing.has(to));
    }
    return pairs.map(pair => pair.join(' ')).sort();
  };

  test.each(['server/orchestrator/', 'server/domains/', 'components/'])(
    'no two folders of %s import each other',
    base => {
      expect(mutual(base)).toEqual([]);
    },
  );

  const divided = ['server/domains/billing/', 'server/domains/runs/'];

  test.each(divided)('the folders of %s can be put in an order', base => {
    expect(folderPairs(base).size).toBeGreaterThan(10);
    expect(circular(base)).toEqual([]);
  });

  test.each(divided)('only operations.ts of %s imports its folders: the files beside it are beneath them', base => {
    const down = imports.filter(
      ({ from, to }) => folderIn(base, from) === '' && folderIn(base, to) && from !== `${base}operations.ts`,
    );
    expect(breaches(down)).toEqual([]);
  });

  test('what all features of the console share imports none of them', () => {
    const shared = /^components\/(ui|trpc)\//;
    const found = imports.filter(
      ({ from, to }) => shared.test(from) && to.startsWith('components/') && !shared.test(to),
    );
    expect(breaches(found)).toEqual([]);
  });

  test('the core imports nothing but itself', () => {
    const core = /^server\/orchestrator\/core\//;
    const foreign = allImports.filter(({ from, to, isPackage }) => core.test(from) && (isPackage || !core.test(to)));
    expect(breaches(foreign)).toEqual([]);
  });

  test('the edits of drafts import nothing but themselves: the browser runs them too', () => {
    const edits = /^server\/domains\/workflows\/edits\//;
    const foreign = allImports.filter(({ from, to, isPackage }) => edits.test(from) && (isPackage || !edits.test(to)));
    expect(breaches(foreign)).toEqual([]);
  });

  test('the platform knows nothing of the product', () => {
    const found = imports.filter(
      ({ from, to }) => from.startsWith('server/platform/') && !to.startsWith('server/platform/'),
    );
    expect(breaches(found)).toEqual([]);
  });

  test('the console runs none of the server: Next would start a second orchestrator', () => {
    const found = imports.filter(
      ({ from, to, typeOnly }) =>
        /^(app|components)\//.test(from) && to.startsWith('server/') && !typeOnly && !sharedWithConsole.test(to),
    );
    expect(breaches(found)).toEqual([]);
  });

  test('the product imports no test code', () => {
    const found = imports.filter(({ to }) => isTest(to));
    expect(breaches(found)).toEqual([]);
  });
});

describe('files', () => {
  test('are at most 400 lines long, tests 600', () => {
    const long = files.flatMap(({ path, text }) => {
      const lines = text.trimEnd().split('\n').length;
      return lines > (isTest(path) ? 600 : 400) ? [`${path}: ${lines} lines`] : [];
    });
    expect(long).toEqual([]);
  });

  test('are named after what they hold', () => {
    const vague =
      /^(utils?|helpers?|common|misc|manager|lib|shared|types|constants|index2|data2?|stuff|temp)\.(tsx?|mjs)$/;
    const folders = /(^|\/)(utils?|helpers?|common|misc|lib|v\d+)\//;
    const named = tracked.filter(path => vague.test(basename(path)) || folders.test(path.replace(/^app\/v1\//, '')));
    expect(named).toEqual([]);
  });

  test('name the subject of each comment on a declaration', () => {
    const dangling =
      /(?:\/\*\*(?:\s*\*)?|(?<!\/\/\/[^\n]*\n[^\S\n]*)\/\/\/) +(?:Of|To|In|What(?:ever)?|Who(?:m|se|ever)?)\b.*/g;
    const schema = { path: 'prisma/schema.prisma', text: readFileSync(join(root, 'prisma/schema.prisma'), 'utf8') };
    const breaches = [...files, schema].flatMap(({ path, text }) =>
      (text.match(dangling) ?? []).map(found => `${path} ${found}`),
    );
    expect(breaches).toEqual([]);
  });

  test('write module-level numbers in SCREAMING_SNAKE_CASE', () => {
    const scripts = files.filter(({ path }) => /\.(tsx?|mjs)$/.test(path));
    expect(scripts.flatMap(({ path, text }) => numbersOf(path, text).map(name => `${path} ${name}`))).toEqual([]);
  });

  test('leave nothing unfinished and silence no checker', () => {
    const marks = /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|nocheck)|eslint-disable/;
    // In a test an expected error is an assertion: the compiler fails when it does not come.
    const inProduct = /@ts-expect-error/;
    const found = files
      .filter(({ path }) => path !== 'server/structure.test.ts')
      .flatMap(({ path, text }) =>
        text
          .split('\n')
          .flatMap((line, at) =>
            marks.test(line) || (!isTest(path) && inProduct.test(line)) ? [`${path}:${at + 1} ${line.trim()}`] : [],
          ),
      );
    expect(found).toEqual([]);
  });

  test('silence Biome as often as ARCHITECTURE.md says', () => {
    const ignores = files.flatMap(({ path, text }) =>
      path === 'server/structure.test.ts' ? [] : (text.match(/biome-ignore/g) ?? []),
    );
    const page = readFileSync(join(root, 'ARCHITECTURE.md'), 'utf8');
    expect(page).toContain(`There are ${ignores.length} \`biome-ignore\` comments`);
  });

  test('cast through unknown only where a type of another package, or of runs, leaves no other way', () => {
    // The compiler checks nothing about such a cast; a single one has to overlap. Lower the number with each that goes.
    const casts = product.flatMap(({ text }) => text.match(/\bas unknown as\b/g) ?? []);
    expect(casts.length).toBeLessThanOrEqual(7);
  });

  test('skip no test', () => {
    const marks = /\b(test|it|describe)\.(only|skip|todo|fixme)\b/;
    const found = files.filter(({ path, text }) => path !== 'server/structure.test.ts' && marks.test(text));
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe('tests', () => {
  test('look up operations by name, not by position', () => {
    const positional = /\] = \w*operations;|operations(\[\d|\.at\()/i;
    const found = files.filter(
      ({ path, text }) => path !== 'server/structure.test.ts' && isTest(path) && positional.test(text),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

describe('lists of names', () => {
  /** Returns the files in which at least two of the names are keys of an object or a map, or cases of a switch. */
  const listing = (names: readonly string[]) => {
    const listed = new RegExp(`(?:case |^\\s*\\[?)'?(${names.join('|')})'?(?::|,| =)`, 'gm');
    const few = ({ text }: { text: string }) => new Set([...text.matchAll(listed)].map(([, name]) => name)).size < 2;
    return product.filter(file => !few(file)).map(({ path }) => path);
  };

  test('of step types are in the folder of the types', () => {
    const outside = listing(Object.keys(STEP_TYPES)).filter(path => !path.startsWith('server/orchestrator/steps/'));
    // Forms for a single type, and the list of fields that are in a language, which the browser loads separately.
    const known = [
      'components/editor/inspector/step-forms.ts',
      'server/domains/workflows/edits/references.ts',
      'server/orchestrator/languages/language-help.ts',
    ];
    expect(outside.sort()).toEqual(known);
  });

  test('of billable actions are two: the actions, and the columns of their rollups', () => {
    const lists = ['server/domains/analytics/action-columns.ts', 'server/orchestrator/ports/billable-actions.ts'];
    expect(listing(BILLABLE_ACTIONS).sort()).toEqual(lists);
  });
});

describe('requests to the outside', () => {
  test('leave through the egress guard', () => {
    // The guard itself; other nodes of the cluster; Vault, at the operator's own address; and files that call the fetch that they are given.
    const may = [
      'server/orchestrator/cluster/probe.ts',
      'server/platform/egress/egress.ts',
      'server/platform/egress/send-anywhere.ts',
      'server/platform/egress/skip-continue.ts',
      'server/platform/secrets/vault-session.ts',
      'server/platform/models/bounded-fetch.ts',
      'server/api/forward/peers.ts',
      'server/domains/connections/messaging/account.ts',
    ];
    const calls =
      /(^|[^.\w#'"`])fetch\(|globalThis\.fetch\(|from '(undici|node:tls|node:https|node:http2)'|\b(request|get)\b[^}]*\} from 'node:http'/m;
    const found = product.filter(
      ({ path, text }) => path.startsWith('server/') && !may.includes(path) && calls.test(text),
    );
    expect(found.map(({ path }) => path)).toEqual([]);
  });
});

const sql =
  /\.query(<[^(]*>)?\(|\.\$(queryRaw|executeRaw)|\b(SELECT|INSERT INTO|DELETE FROM|UPDATE \w+( \w+)?\s+SET)\b/;
const prisma =
  /\b(prisma|tx|db)\s*\.\s*[a-z]\w+\s*\.\s*(find\w+|create\w*|update\w*|delete\w*|upsert|count|aggregate|groupBy)\(/;
const isStore = (path: string) => /(^|\/|-)(store|queries)\.ts$/.test(path);

describe('data access', () => {
  test('is in the stores of a domain', () => {
    const outside = product.filter(
      ({ path, text }) => path.startsWith('server/domains/') && !isStore(path) && (sql.test(text) || prisma.test(text)),
    );
    expect(outside.map(({ path }) => path)).toEqual([]);
  });

  test('is Prisma for what people administer, SQL in its queries.ts and for everything else (docs/adr/0016)', () => {
    const administered = /^server\/domains\/(agents|identity|workflows|webhooks|connections|mcp-servers|models)\//;
    const stores = product.filter(({ path }) => path.startsWith('server/domains/') && isStore(path));
    const mixed = stores.filter(({ path, text }) =>
      administered.test(path) && path.endsWith('store.ts') ? sql.test(text) : prisma.test(text),
    );
    expect(mixed.map(({ path }) => path)).toEqual([]);
    expect(product.filter(({ path, text }) => isStore(path) && /\$(query|execute)Raw/.test(text))).toEqual([]);
  });

  test('gives Prisma JSON by exactJson, which stores it unchanged', () => {
    const casts = product.filter(
      ({ path, text }) =>
        path !== 'server/platform/postgres/prisma.ts' && /\bInputJson(Value|Object|Array)\b/.test(text),
    );
    expect(casts.map(({ path }) => path)).toEqual([]);
  });

  test('writes the keywords of SQL in upper case', () => {
    const lower = /[`'"(]\s*(select|insert into|update \w+\s+set|delete from|with \w+ as \()\s|\.query\(\s*[`'][a-z]/;
    const scripts = files.filter(({ path }) => path !== 'server/structure.test.ts' && /\.(ts|mjs)$/.test(path));
    expect(scripts.filter(({ text }) => lower.test(text)).map(({ path }) => path)).toEqual([]);
    // Names of columns, quoted text and comments may contain such words.
    const keywords =
      'select|from|where|join|lateral|order by|group by|having|limit|returning|values|using|union|distinct';
    const others = 'and|or|not|null|is|in|as|exists|case|when|then|else|end|asc|desc|between|like|ilike|on conflict';
    const keyword = new RegExp(`(?<![\\w"'.$])(${keywords}|${others})(?![\\w"'.$(=:])`);
    const mixed = scripts.flatMap(({ path, text }) =>
      (sql.test(text) ? literalsOf(path, text) : []).flatMap(literal => {
        const found = sql.test(literal) && keyword.exec(literal.replace(/'[^']*'|--.*$/gm, ''));
        return found ? [`${path}: ${found[0]} in ${literal.trim().slice(0, 60)}`] : [];
      }),
    );
    expect(mixed).toEqual([]);
  });
});

describe('credentials', () => {
  const naming = (pattern: RegExp) =>
    product.filter(({ path, text }) => path.startsWith('server/') && pattern.test(text));
  const paths = (found: typeof files) => found.map(({ path }) => path).sort();

  test('leave the secret store in a few places', () => {
    expect(paths(naming(/\bsecrets\s*\.(get|take)\(/))).toEqual([
      // Credentials of connections leave here only: stored.ts reads them, and credentials.ts releases them for an origin.
      'server/domains/connections/oauth/flow.ts',
      'server/domains/connections/stored.ts',
      'server/domains/identity/pats/reveal.ts',
      'server/domains/notifications/webhook-target.ts',
      'server/domains/webhooks/signing-secrets.ts',
    ]);
    const readers = imports.filter(({ to }) => to === 'server/domains/connections/stored.ts').map(({ from }) => from);
    expect(readers.filter(from => !from.startsWith('server/domains/connections/'))).toEqual([]);
  });

  test('are sent by the fetch that they come with, which knows their origins', () => {
    const may = [
      'server/domains/connections/credentials.ts',
      // The operator's own credentials.
      'server/domains/billing/provider/stripe/client.ts',
      'server/platform/oauth/client.ts',
      // Sent before they are stored, to an address of the operator's.
      'server/domains/connections/messaging/account.ts',
      // Without credentials.
      'server/commands/doctor/reach.ts',
      'server/domains/http-requests/requester.ts',
      'server/domains/mcp-servers/calls/binding.ts',
      'server/domains/mcp-servers/servers/access.ts',
      // A person's own webhook: the address is the credential, and no redirect is followed.
      'server/domains/notifications/webhook-target.ts',
    ];
    expect(paths(naming(/\begress\.fetch\b|\} = [\w.]*\begress\b/))).toEqual(may.sort());
  });
});

describe('the edge of the process', () => {
  test('is one place: nothing else listens, or handles an upgrade, a malformed request or an uncaught error', () => {
    // The decoy that Next attaches its own upgrade listener to never listens.
    const may = [
      'server/api/edge.ts',
      'server/process/process-end.ts',
      'server/process/main.ts',
      'server/platform/postgres/free-port.ts',
    ];
    const handles =
      /\bcreateServer\b[^}]*\} from 'node:(http|https|net)'|\.on\('(upgrade|clientError|uncaughtException|unhandledRejection)'|new WebSocketServer\(/;
    const found = product.filter(
      ({ path, text }) => path.startsWith('server/') && !may.includes(path) && handles.test(text),
    );
    // The stream has no separate server, and takes the upgrades that the edge passes on.
    expect(found.map(({ path }) => path)).toEqual(['server/api/stream.ts']);
  });
});

describe('the promises', () => {
  test.each(['docs/security.md', 'docs/reliability.md', 'docs/testing.md'])('of %s name tests that there are', name => {
    const page = readFileSync(join(root, name), 'utf8');
    // A promise and its tests form one list item.
    const items = page.split(/\n(?=- |\||\n|#)/).map(item => item.replace(/\s+/g, ' '));
    const missing = items.flatMap(item => {
      const named = [...item.matchAll(/`([\w./-]+\.(?:test|spec)\.tsx?)`/g)].map(([, path]) => path ?? '');
      const found = files.filter(({ path }) => named.some(name => path === name || path.endsWith(`/${name}`)));
      // The quoted text after a test file's name is the beginning of the name of a test or a group.
      const quoted = named.length === 0 ? [] : [...item.matchAll(/"([^"]+)"/g)].map(([, title]) => title ?? '');
      const absent = named.filter(name => !found.some(({ path }) => path.endsWith(name)));
      return [...absent, ...quoted.filter(title => !found.some(({ text }) => text.includes(title)))];
    });
    expect(missing).toEqual([]);
    expect(page.match(/\.(test|spec)\.tsx?`/g)?.length).toBeGreaterThan(10);
  });
});

describe('configuration', () => {
  test('is read from the environment in one place', () => {
    const allowed = /^(server\/operation\/config\.ts|bin\/|[^/]+\.config\.(ts|mjs)$|e2e\/|bench\/)|(testing|\.test)/;
    // These are not settings: PATH and similar variables for PostgreSQL's process, NEXTAUTH_URL for next-auth, Next's build
    // constant.
    const others = ['server/platform/postgres/cluster.ts', 'app/api/auth/[...nextauth]/route.ts'];
    const readers = files.filter(
      ({ path, text }) =>
        !allowed.test(path) &&
        !others.includes(path) &&
        /process\.env\b/.test(text.replaceAll('process.env.NODE_ENV', '')),
    );
    expect(readers.map(({ path }) => path)).toEqual([]);
  });

  test('docs/configuration.md lists every variable, and no other', () => {
    const text = readFileSync(join(root, 'docs/configuration.md'), 'utf8');
    const listed = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name ?? '');
    expect(listed.filter(name => !name.startsWith('BATON_TEST_')).sort()).toEqual([...configVariables].sort());
    const ofTests = (texts: string[]) => [
      ...new Set(texts.flatMap(each => each.match(/\bBATON_TEST_[A-Z_]+\b/g) ?? [])),
    ];
    const read = files.filter(({ path }) => path !== 'server/structure.test.ts');
    expect(ofTests([text]).sort()).toEqual(ofTests(read.map(file => file.text)).sort());
  });
});
