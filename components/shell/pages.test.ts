import { expect, test } from 'vitest';
import { pagesFor } from './pages.ts';

const viewer = { canWrite: false, isAdmin: false, agents: true, memory: true };
const contributor = { canWrite: true, isAdmin: false, agents: true, memory: true };
const admin = { canWrite: true, isAdmin: true, agents: true, memory: true };

const labels = (...args: Parameters<typeof pagesFor>) => {
  const { main, settings } = pagesFor(...args);
  return [...main, ...settings].map(({ label }) => label);
};

test('a viewer gets only pages with content for viewers', () => {
  const viewerLabels = labels({ ...viewer, billing: 'on' });
  for (const label of ['Webhooks', 'Connections', 'MCP servers', 'Analytics', 'API keys', 'Audit log'])
    expect(viewerLabels).not.toContain(label);
  expect(viewerLabels).toEqual(expect.arrayContaining(['Workflows', 'Runs', 'Inbox', 'Usage', 'Members', 'Profile']));
});

test('only an admin gets the audit log', () => {
  expect(labels({ ...contributor, billing: 'on' })).not.toContain('Audit log');
  expect(labels({ ...admin, billing: 'on' })).toContain('Audit log');
});

test('billing shows only usage if nothing is sold, and is absent if it is off', () => {
  expect(labels({ ...admin, billing: 'on' })).toContain('Billing');
  expect(labels({ ...admin, billing: 'metered' })).toContain('Usage');
  expect(labels({ ...admin, billing: 'metered' })).not.toContain('Billing');
  expect(labels({ ...admin, billing: 'off' }).filter(label => /Billing|Usage/.test(label))).toEqual([]);
});

test('everyone gets the agent pages if the deployment has agents', () => {
  expect(labels({ ...viewer, billing: 'on' })).toContain('Agents');
  expect(labels({ ...admin, agents: false, billing: 'on' })).not.toContain('Agents');
  expect(labels({ ...admin, billing: 'on' })).toContain('Chat settings');
  expect(labels({ ...admin, agents: false, billing: 'on' })).not.toContain('Chat settings');
  expect(labels({ ...contributor, billing: 'on' })).not.toContain('Chat settings');
});

test('everyone gets the memory page if the deployment has memory', () => {
  expect(labels({ ...viewer, billing: 'on' })).toContain('Memory');
  expect(labels({ ...admin, memory: false, billing: 'on' })).not.toContain('Memory');
});
