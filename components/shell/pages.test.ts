import { expect, test } from 'vitest';
import { pagesFor } from './pages.ts';

const viewer = { canWrite: false, isAdmin: false, agents: true, memory: true };
const contributor = { canWrite: true, isAdmin: false, agents: true, memory: true };
const admin = { canWrite: true, isAdmin: true, agents: true, memory: true };

const labels = (...args: Parameters<typeof pagesFor>) => {
  const { main, settings } = pagesFor(...args);
  return [...main, ...settings].map(({ label }) => label);
};

test('a viewer is offered only pages with content for viewers', () => {
  const offered = labels({ ...viewer, billing: 'on' });
  for (const label of ['Webhooks', 'Connections', 'MCP servers', 'Analytics', 'API keys', 'Audit log'])
    expect(offered).not.toContain(label);
  expect(offered).toEqual(expect.arrayContaining(['Workflows', 'Runs', 'Inbox', 'Usage', 'Members', 'Profile']));
});

test('only an admin is offered the audit log', () => {
  expect(labels({ ...contributor, billing: 'on' })).not.toContain('Audit log');
  expect(labels({ ...admin, billing: 'on' })).toContain('Audit log');
});

test('billing shows only usage if nothing is sold, and is absent if it is off', () => {
  expect(labels({ ...admin, billing: 'on' })).toContain('Billing');
  expect(labels({ ...admin, billing: 'metered' })).toContain('Usage');
  expect(labels({ ...admin, billing: 'metered' })).not.toContain('Billing');
  expect(labels({ ...admin, billing: 'off' }).filter(label => /Billing|Usage/.test(label))).toEqual([]);
});

test('agents are offered to everyone if the deployment has them', () => {
  expect(labels({ ...viewer, billing: 'on' })).toContain('Agents');
  expect(labels({ ...admin, agents: false, billing: 'on' })).not.toContain('Agents');
  expect(labels({ ...admin, billing: 'on' })).toContain('Chat settings');
  expect(labels({ ...admin, agents: false, billing: 'on' })).not.toContain('Chat settings');
  expect(labels({ ...contributor, billing: 'on' })).not.toContain('Chat settings');
});

test('memory is offered to everyone if the deployment has it', () => {
  expect(labels({ ...viewer, billing: 'on' })).toContain('Memory');
  expect(labels({ ...admin, memory: false, billing: 'on' })).not.toContain('Memory');
});
