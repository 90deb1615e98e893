import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { scopes } from '../../server/orchestrator/ports/authority.ts';
import { createTestPat, createTestServices, createTestTenant } from '../../server/testing/identity.ts';
import type { TestDatabase } from '../../server/testing/postgres.ts';
import { Client } from '../faults/client.ts';

/** The workflow of an honest tenant: three steps, one after the other. */
export const honestGraph = {
  steps: [
    { id: 'double', type: 'lua_script', script: 'return input.n * 2' },
    { id: 'check', type: 'condition', expression: 'steps.double.result > 0', depends_on: ['double'] },
    { id: 'end', type: 'lua_script', script: 'return steps.double.result + 1', depends_on: ['check'] },
  ],
};

/** Creates a tenant and returns a client with a token that has every scope. */
export async function createTenant(db: TestDatabase, url: string, slug: string): Promise<Client> {
  const services = createTestServices(db);
  const { owner } = await createTestTenant(services, { slug });
  return new Client(url, (await createTestPat(services, owner, scopes)).token);
}

/** Publishes a workflow; returns its path. */
export async function publish(client: Client, name: string, graph: unknown): Promise<string> {
  const { status, body } = await client.call('POST', '/v1/workflows', { name, graph });
  expect([name, status]).toEqual([name, 201]);
  const path = `/v1/workflows/${body.id}`;
  const version = await client.call('POST', `${path}/versions`, { changelog: 'first' });
  expect([name, version.status]).toEqual([name, 201]);
  return path;
}

/** Measures in ms how long a client waits for the end of a run, and for its results. */
export async function latency(client: Client, workflow: string): Promise<Sample> {
  const began = performance.now();
  const started = await client.call('POST', `${workflow}/command`, { command: 'start', params: { n: 1 } });
  expect(started.status).toBe(200);
  const summary = `${workflow}/runs/${started.body.run_id}/summary`;
  for (;;) {
    const { body } = await client.call('GET', summary);
    if (body.status === 'completed') break;
    expect(body.status).toBe('running');
    await delay(3);
  }
  const ran = performance.now();
  const { body } = await client.call('GET', `${workflow}/runs/${started.body.run_id}/context`);
  const read = performance.now();
  expect(body.steps).toMatchObject({ end: { result: 3 } });
  return { runMs: ran - began, readMs: read - ran };
}

export type Sample = { runMs: number; readMs: number };
