import { spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  createTestWebhook,
  startWebhookService,
  type TestWebhook,
  type WebhookService,
} from '../../server/testing/webhooks.ts';
import { type ExampleLanguage, exampleFor, exampleLanguages } from './examples.ts';

/** Every example is run as it is shown, against the real service: with a webhook that requires a timestamp, and with one that does not. */
let service: WebhookService;
let lenient: TestWebhook;
let strict: TestWebhook;

beforeAll(async () => {
  service = await startWebhookService();
  service.clock.advance(Date.now() - service.clock.now());
  lenient = await createTestWebhook(service);
  strict = await createTestWebhook(service, { require_timestamp: true });
});
afterAll(() => service.close());

const programs: Record<ExampleLanguage, [program: string, ...args: string[]]> = {
  curl: ['sh', '-s'],
  node: [process.execPath, '--input-type=module', '-'],
  python: ['python3', '-'],
};
/** Some machines lack these programs. Node is always available. */
const needs: Record<ExampleLanguage, string[]> = { curl: ['curl', 'openssl'], node: [], python: ['python3'] };

function run([program, ...args]: [string, ...string[]], text: string): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(text);
  return new Promise((resolve, reject) => {
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.once('error', reject);
    child.once('close', () => resolve(output));
  });
}

test.each(exampleLanguages)('the $label example delivers', async ({ value }) => {
  if (needs[value].some(tool => spawnSync('which', [tool]).status !== 0)) return;
  for (const webhook of [lenient, strict]) {
    const sender = { url: service.url + webhook.path, secret: webhook.secret, token: service.token };
    const output = await run(programs[value], exampleFor(value, sender));
    const runId = /"run_id": ?"([0-9a-f-]{36})"/.exec(output)?.[1];
    expect(runId, output).toBeDefined();
    expect(await service.inputOf(runId)).toEqual({ order: 1042, customer: 'ada@example.com' });
  }
  const wrong = { url: service.url + strict.path, secret: 'whsec_…', token: service.token };
  expect(await run(programs[value], exampleFor(value, wrong))).toMatch(/unauthenticated|401/);
});
