import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('..', import.meta.url));
const pages = globSync(['*.md', 'docs/**/*.md', 'bench/*.md'], { cwd: root });
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Text without code, where brackets and hashes mean other things. */
const prose = (text: string) => text.replace(/^( {4}|\t).*$/gm, '').replace(/(`+)[^`][\s\S]*?\1/g, '');

/** The anchors of a page: its headings, as GitHub names them, and its `<a id>`s. */
function anchorsOf(path: string): Set<string> {
  const ids = [...read(path).matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id);
  const headings = [...read(path).matchAll(/^#{1,6} +(.+?) *#*$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
  return new Set([...ids, ...headings]);
}

/** What is wrong with a link, or null. */
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
    [...prose(read(page)).matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map(([, to = '']) => ({ page, to })),
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
