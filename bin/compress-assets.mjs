import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

const compress = {
  // Quality 11 would take four times as long to save another 3 %.
  br: content => promisify(brotliCompress)(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }),
  gz: content => promisify(gzip)(content, { level: 9 }),
};

/**
 * Stores a compressed copy of each script and style sheet in `folder` beside the file (`x.js.br`, `x.js.gz`), for
 * server/api/static-assets.ts. Without HTTPS, browsers accept brotli only from localhost.
 */
export async function compressAssets(folder) {
  const paths = await readdir(folder, { recursive: true });
  const texts = paths.filter(path => /\.(?:css|js|json|svg|txt)$/.test(path));
  await Promise.all(texts.map(path => store(join(folder, path))));
}

async function store(path) {
  const content = await readFile(path);
  for (const [suffix, coded] of Object.entries(compress)) {
    const smaller = await coded(content);
    if (smaller.length < content.length) await writeFile(`${path}.${suffix}`, smaller);
  }
}
