import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const inRepository = (patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: path => /(^|\/)(generated|node_modules)$/.test(path) });
const pages = inRepository(['*.md', 'docs/**/*.md', 'bench/*.md']);
const sources = inRepository([
  '{app,bench,bin,components,e2e,prisma,server}/**/*.{ts,tsx,mjs,css,prisma,sql,json}',
  '*.{ts,mjs}',
]);
const readFile = (path: string) => readFileSync(join(root, path), 'utf8');

/** Text without code, where brackets and hashes mean other things. */
const prose = (text: string) => text.replace(/^( {4}|\t).*$/gm, '').replace(/(`+)[^`][\s\S]*?\1/g, '');

const anchors = new Map<string, ReadonlySet<string>>();

/** The anchors of a page: its headings, as GitHub names them, and its `<a id>`s. */
function anchorsOf(path: string): ReadonlySet<string> {
  const known = anchors.get(path);
  if (known) return known;
  const text = readFile(path);
  const ids = [...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  const headings = [...text.matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  const found = new Set([...ids, ...headings]);
  anchors.set(path, found);
  return found;
}

/** Returns what is wrong with a link, or null. */
function problemOf(from: string, target: string): string | null {
  if (/^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])/.test(target)) return 'leads to the reader’s own machine';
  if (/^[a-z]+:/.test(target)) return null;
  const [file = '', anchor] = target.split('#');
  const path = file === '' ? from : normalize(join(dirname(from), file));
  if (!existsSync(join(root, path))) return 'leads to no file';
  if (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor))
    return 'leads to no heading or anchor';
  return null;
}

test('links between the pages of the documentation lead somewhere', () => {
  const links = pages.flatMap(page =>
    [...prose(readFile(page)).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map(([, to = '']) => ({ page, to })),
  );
  expect(links.length).toBeGreaterThan(60);
  const broken = links.flatMap(({ page, to }) => {
    const problem = problemOf(page, to);
    return problem === null ? [] : [`${page}: ${to} ${problem}`];
  });
  expect(broken).toEqual([]);
});

test('a link that leads nowhere is found', () => {
  expect(problemOf('README.md', 'docs/none.md')).toBe('leads to no file');
  expect(problemOf('docs/mcp.md', 'security.md#none')).toBe('leads to no heading or anchor');
  expect(problemOf('docs/mcp.md', '#tools')).toBeNull();
  expect(problemOf('docs/mcp.md', 'http://127.0.0.1:3000/docs')).toBe('leads to the reader’s own machine');
});

/**
 * Returns the numbers of the lines that should be wrapped. Tables, code blocks (fenced or indented) and the results that the
 * benchmark generates are left as they are, and the targets of links do not count.
 */
function longLinesOf(text: string): number[] {
  const unwrapped = /^( *)```[\s\S]*?^\1```$|^<!-- results -->$[\s\S]*?^<!-- end of results -->$/gm;
  const withoutFences = text.replace(unwrapped, block => block.replace(/.*/g, ''));
  let inCode = false;
  return withoutFences.split('\n').flatMap((line, at, lines) => {
    inCode = /^( {4}|\t)/.test(line) && (inCode || lines[at - 1]?.trim() === '');
    const visible = line.replace(/\]\([^)]*\)/g, ']').replace(/https?:\/\/\S+/g, '');
    return inCode || line.startsWith('|') || visible.length <= 100 ? [] : [at + 1];
  });
}

describe('the lines of a page', () => {
  test('have at most 100 characters outside tables, code and links', () => {
    const long = pages.flatMap(page => longLinesOf(readFile(page)).map(line => `${page}:${line}`));
    expect(long).toEqual([]);
  });

  test('are reported if they are longer', () => {
    const long = 'word '.repeat(21).trim();
    expect(longLinesOf(`${long}\n\n- ${long}\n  ${long}`)).toEqual([1, 3, 4]);
    expect(longLinesOf(`10. One\n    ${long}`)).toEqual([2]);
    expect(longLinesOf(`Code:\n\n    ${long}\n    ${long}`)).toEqual([]);
    expect(longLinesOf(`\`\`\`yaml\n${long}\n\`\`\`\n| ${long} |`)).toEqual([]);
    expect(longLinesOf(`[a link](https://example.com/${'a'.repeat(100)})`)).toEqual([]);
  });
});

/** Returns the comments of a source file. A `//` in an address does not begin a comment. */
function commentsOf(path: string, text: string): string {
  if (path.endsWith('.json')) return '';
  if (path.endsWith('.sql')) return [...text.matchAll(/--.*$/gm)].join('\n');
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm)].join('\n');
}

/** Pages are searched completely: commands, diagrams and prose all name paths. */
const texts = [
  ...sources
    .filter(path => path !== 'server/docs-links.test.ts')
    .map(path => ({ path, text: commentsOf(path, readFile(path)) })),
  ...pages.map(path => ({ path, text: readFile(path).replace(/\]\([^)]*\)/g, ']') })),
];

type Reference = { path: string; anchor: string | undefined };

// A folder of Next may be in brackets: `(console)`, `[...path]`.
const segment = String.raw`(?:[\w@.-]+|\([\w-]+\)|\[[\w.-]+\])`;
/** A reference does not begin in the middle of an address, a pattern or a longer path. */
const start = String.raw`(?<![\w*{}<>$@/.:#-])`;
const fileName = new RegExp(
  `${start}((?:${segment}/)*[\\w.-]+\\.(?:md|tsx?|mjs|css|prisma|sql))(?![\\w*{/-])(?:#([\\w-]+))?`,
  'g',
);
const folderName = new RegExp(
  `${start}((?:app|bench|bin|components|docs|e2e|prisma|server)/(?:${segment}/)*[\\w-]+)(?![\\w*{/.…<-])`,
  'g',
);

/** File names with an extension of ours, paths into our folders, and decision records by number. */
function referencesIn(text: string): Reference[] {
  const files = [...text.matchAll(fileName)].map(([, path = '', anchor]) => ({ path, anchor }));
  const folders = [...text.matchAll(folderName)].map(([, path = '']) => ({ path, anchor: undefined }));
  const records = [...text.matchAll(/\bADR (\d+)\b/g)].map(([, number = '']) => ({
    path: `docs/adr/${number.padStart(4, '0')}`,
    anchor: undefined,
  }));
  return [...files, ...folders, ...records];
}

const known = [...pages, ...sources];
const ends = new Set(known.flatMap(path => path.split('/').map((_, at, parts) => parts.slice(at).join('/'))));

/**
 * Returns what is wrong with a reference in a comment or page, or null. A reference may name a source file by the end
 * of its path.
 */
function referenceProblem(from: string, { path, anchor }: Reference): string | null {
  if (/^docs\/adr\/\d{4}$/.test(path)) {
    return pages.some(page => page.startsWith(`${path}-`)) ? null : 'is no decision record';
  }
  const near = normalize(join(dirname(from), path));
  const page = [path, near].find(candidate => pages.includes(candidate));
  if (page === undefined) {
    const exists = ends.has(path) || existsSync(join(root, path)) || existsSync(join(root, near));
    return exists && !path.endsWith('.md') ? null : 'does not exist';
  }
  return anchor === undefined || anchorsOf(page).has(anchor) ? null : `has no heading or anchor #${anchor}`;
}

describe('references in comments and pages', () => {
  test('lead to an existing file and anchor', () => {
    const broken = texts.flatMap(({ path, text }) =>
      referencesIn(text).flatMap(reference => {
        const problem = referenceProblem(path, reference);
        return problem === null ? [] : [`${path}: ${reference.path} ${problem}`];
      }),
    );
    expect([...new Set(broken)]).toEqual([]);
  });

  test('are found, and broken ones are reported', () => {
    const problems = (text: string) =>
      referencesIn(commentsOf('server/a.ts', text)).map(reference => referenceProblem('server/a.ts', reference));
    expect(problems('// see decisions.md, Runs')).toEqual(['does not exist']);
    expect(problems('/** docs/specification/runs.md#none */')).toEqual(['has no heading or anchor #none']);
    expect(problems('/** docs/specification/runs.md#start */')).toEqual([null]);
    expect(problems('const x = 1; // server/none.ts has it')).toEqual(['does not exist']);
    expect(problems('/** A folder: server/nowhere holds it. */')).toEqual(['does not exist']);
    expect(problems('/** Like core/compile.ts, ADR 9. */')).toEqual([null, null]);
    expect(problems('/** ADR 9999 */')).toEqual(['is no decision record']);
    expect(problems("const url = 'http://example.com/server/none.ts';")).toEqual([]);
    expect(texts.flatMap(({ text }) => referencesIn(text)).length).toBeGreaterThan(500);
  });
});
