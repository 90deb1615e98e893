import { existsSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { codingOf } from './compression.ts';

/** The types of file that a build of the console contains. Others are not served from here. */
const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};
/** The suffixes under which the build stores what it has compressed (bin/compress-assets.mjs). */
const suffixes = { br: '.br', gzip: '.gz' } as const;

/** Answers a request for a file. Returns false, without any effect, if no file has that path. */
export type StaticAssets = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

/**
 * Serves the files of a build, whose names change with their contents, so that browsers keep them (RFC 8246). Each file is read
 * once, already compressed, and kept in memory. Next finds, reads and compresses a file again for each request, which took nearly
 * half of the server's CPU for a page. A later build in the same folder cannot remove a file that has been read. `directory`: an
 * absolute path; nothing is served if it does not exist. `prefix`: the path of its files in URLs, such as `/_next/static/`.
 */
export function serveStaticAssets(directory: string, prefix: string): StaticAssets {
  const files = filesIn(directory);
  const contents = new Map<string, Promise<Buffer>>();
  const contentOf = (name: string) => {
    const content = contents.get(name) ?? readFile(join(directory, name));
    contents.set(name, content);
    return content.catch(() => {
      // Removed by a later build.
      contents.delete(name);
      return null;
    });
  };
  return async (path, { method, headers }, response) => {
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : '';
    const type = contentTypes[extname(name)];
    if (type === undefined || !files.has(name) || (method !== 'GET' && method !== 'HEAD')) return false;
    const coding = codingOf(headers['accept-encoding']);
    const coded = coding !== null && files.has(name + suffixes[coding]) ? coding : null;
    const body = await contentOf(coded === null ? name : name + suffixes[coded]);
    if (body === null) return false;
    response.writeHead(200, {
      'Content-Type': type,
      'Content-Length': body.length,
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...(coded === null ? {} : { 'Content-Encoding': coded }),
    });
    response.end(method === 'HEAD' ? undefined : body);
    return true;
  };
}

/** Returns the paths of everything below a directory, relative to it, with slashes. */
function filesIn(directory: string): Set<string> {
  if (!existsSync(directory)) return new Set();
  return new Set(readdirSync(directory, { recursive: true, encoding: 'utf8' }).map(path => path.replaceAll(sep, '/')));
}
