import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readFile = (path: string) => readFileSync(join(root, path), 'utf8');

const code = "'([a-z]+(?:_[a-z]+)*)'";
const message = String.raw`(?:'(?:[^'\\]|\\.)*'|"[^"]*"|\x60[^\x60]*\x60|[\w.]+)`;

/** Patterns for the constructors of server/platform/errors.ts, which capture the code. */
const constructions = [
  String.raw`\b(?:conflict|unavailable)\(\s*${code}`,
  String.raw`\bAppError\(\s*\d+,\s*${code}`,
  String.raw`\b(?:forbidden|badRequest)\(\s*${message},\s*${code}`,
  String.raw`\binvalid\([^;]{1,500}?${code},?\s*\)`,
].map(pattern => new RegExp(pattern, 'g'));

/** Returns the error codes that a file names where it makes an AppError. Syntax trees would find the same codes, but take 4 s of CPU. */
const codesIn = (text: string) =>
  constructions.flatMap(pattern => [...text.matchAll(pattern)].map(([, found = '']) => found));

test('the codes of a file are found', () => {
  const text = [
    "throw conflict('a_b', 'No.');",
    "throw invalid('No.', undefined, 'c_d');",
    "const e = new AppError(429, 'e_f', 'No.', { headers: {} });",
    "throw forbidden(\"You're not.\", 'g_h');",
    "throw invalid('No.');",
  ].join('\n');
  expect(codesIn(text).sort()).toEqual(['a_b', 'c_d', 'e_f', 'g_h']);
});

test('the specification names every error code of the API', () => {
  const sources = globSync('server/{api,contract,domains,platform}/**/*.ts', {
    cwd: root,
    exclude: path => /(^|\/)(generated|demo-api|demo-mcp)$/.test(path),
  }).filter(path => !path.endsWith('.test.ts'));
  const codes = new Set(sources.flatMap(path => codesIn(readFile(path))));
  expect(codes.size).toBeGreaterThan(100);
  const pages = globSync('docs/specification/*.md', { cwd: root }).map(readFile).join('\n');
  const named = new Set([...pages.matchAll(/`([a-z_]+)`/g)].map(([, each]) => each));
  expect([...codes].filter(each => !named.has(each)).sort()).toEqual([]);
});
