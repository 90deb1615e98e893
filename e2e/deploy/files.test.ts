import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import { nodeFlags } from '../../bin/node-flags.mjs';
import { configVariables } from '../../server/operation/config.ts';

/** These tests read `deploy/` without the programs that it is for: image.test.ts and chart.test.ts run those. */
const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const paths = readdirSync(join(root, 'deploy'), { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
const manifest = JSON.parse(read('package.json')) as { version: string; dependencies: Record<string, string> };
/** Templates are YAML only once Helm has rendered them. */
const yamls = paths.filter(path => /\.ya?ml$/.test(path) && !path.includes('/templates/'));

function yaml(path: string): unknown {
  const document = parseDocument(read(path), { merge: true });
  if (document.errors.length + document.warnings.length > 0) throw new Error(`${path}: ${document.errors.join('; ')}`);
  return document.toJS();
}

test('every YAML file parses', () => {
  expect(yamls.length).toBeGreaterThanOrEqual(5);
  for (const path of yamls) expect(yaml(path), path).toBeTypeOf('object');
});

test('every setting that is named exists', () => {
  const pages = ['docs/deploy.md', 'docs/reverse-proxies.md'];
  const named = [...paths, ...pages].flatMap(path =>
    (read(path).match(/\b(?:BATON_[A-Z]\w*|DATABASE_URL(?:_FILE)?)\b/g) ?? []).map(name => [path, name] as const),
  );
  expect(named.length).toBeGreaterThan(40);
  const exists = (name: string) =>
    configVariables.includes(name) || configVariables.includes(name.replace(/_FILE$/, ''));
  const unknown = named.filter(([, name]) => !exists(name) && name !== 'BATON_TEST_DEPLOY' && name !== 'BATON_CONFIG');
  expect(unknown).toEqual([]);
});

test('every image is pinned, and the versions agree', () => {
  const dockerfile = read('deploy/Dockerfile');
  const defaults = [...dockerfile.matchAll(/^ARG \w+_IMAGE=(\S+)$/gm)].map(([, image]) => image ?? '');
  const stages = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(stages).toEqual(['$' + '{NODE_IMAGE}', '$' + '{BASE_IMAGE}']);
  const services = ['deploy/compose.yaml', 'deploy/compose.ha.yaml'].flatMap(path =>
    Object.values((yaml(path) as { services: Record<string, { image: string }> }).services),
  );
  expect(services).toHaveLength(7);
  const images = [...defaults, ...services.map(({ image }) => image)];
  for (const image of images) expect(image).toMatch(/^[a-z.]+\/[a-z/]+:\d+\.\d+[\w.-]*$/);
  expect(defaults[0]).toContain(`/node:${manifest.dependencies.node}-`);
  expect(
    images.filter(image => image.startsWith('localhost/baton')).every(image => image.endsWith(`:${manifest.version}`)),
  ).toBe(true);
  expect(images.filter(image => image.includes('/postgres:')).every(image => image.includes(':18.'))).toBe(true);
  expect(dockerfile).toContain(`ARG VERSION=${manifest.version}\n`);
  expect(yaml('deploy/helm/baton/Chart.yaml')).toMatchObject({
    version: manifest.version,
    appVersion: manifest.version,
  });
});

test('the image and the unit start Node as `npm start` does, without privileges', () => {
  const dockerfile = read('deploy/Dockerfile');
  const entry = JSON.parse(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1] ?? '[]');
  expect(entry).toEqual(['/usr/local/bin/node', ...nodeFlags]);
  expect(dockerfile).toMatch(/^CMD \["bin\/serve\.mjs"\]$/m);
  expect(dockerfile).toMatch(/^USER 10001:10001$/m);
  const unit = read('deploy/systemd/baton.service');
  expect(unit).toContain(`/node_modules/node/bin/node ${nodeFlags.join(' ')} bin/serve.mjs\n`);
  expect(unit).toMatch(/^DynamicUser=yes$/m);
});

test('the chart names only settings that its schema lets a release choose', () => {
  const values = yaml('deploy/helm/baton/values.yaml') as Record<string, unknown>;
  const schema = JSON.parse(read('deploy/helm/baton/values.schema.json')) as { properties: Record<string, unknown> };
  expect(Object.keys(values).filter(name => !(name in schema.properties))).toEqual([]);
  expect(Object.keys(schema.properties).filter(name => !(name in values) && name !== 'global')).toEqual([]);
});
