import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compress = {
  // Quality 11 takes four times as long for the last 3 %.
  br: content => promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
  gz: content => promisify(gzip)(content, { level: 9 }),
};

/**
 * Stores each script and style sheet below `folder` compressed beside itself (`x.js.br`, `x.js.gz`), from where
 * server/api/static-assets.ts serves it. Browsers accept brotli over HTTPS alone.
 */
export async function compressAssets(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const texts = entries.filter(entry => entry.isFile() && /\.(?:css|js|json|svg|txt)$/.test(entry.name));
  const paths = texts.map(entry => join(entry.parentPath, entry.name));
  await Promise.all(paths.map(store));
}

async function store(path) {
  const content = await readFile(path);
  for (const [suffix, coded] of Object.entries(compress)) {
    const smaller = await coded(content);
    if (smaller.length < content.length) await writeFile(`${path}.${suffix}`, smaller);
  }
}
