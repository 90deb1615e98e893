import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { freePort } from '../../server/platform/postgres/free-port.ts';
import {
  oauthClientId,
  oauthClientSecret,
  startOauthServer,
  type TestOauthServer,
} from '../../server/testing/oauth-server.ts';
import { test as console, expect, expectAccessible, open, settled } from '../fixtures/console.ts';

type Peers = { oauth: TestOauthServer; port: number; messaging: string };

/** A server with a real authorization server and a messaging API that accepts one token. */
const test = console.extend<Peers>({
  port: async ({ perFile }, use) => {
    await use(await perFile('port', freePort, async () => undefined));
  },
  oauth: async ({ port, perFile }, use) => {
    const redirectUri = `http://127.0.0.1:${port}/connections/callback`;
    await use(
      await perFile(
        'oauth',
        () => startOauthServer({ redirectUri }),
        server => server.close(),
      ),
    );
  },
  messaging: async ({ perFile }, use) => {
    const api = await perFile('messaging', startMessagingApi, stopServer);
    await use(`http://127.0.0.1:${(api.address() as AddressInfo).port}`);
  },
  serverEnv: async ({ oauth, port, messaging }, use) => {
    await use({
      PORT: String(port),
      BATON_ALLOW_PRIVATE_NETWORK: '127.0.0.1',
      BATON_SUITE_ISSUER: oauth.issuer,
      BATON_SUITE_CLIENT_ID: oauthClientId,
      BATON_SUITE_CLIENT_SECRET: oauthClientSecret,
      BATON_SUITE_SCOPES: 'openid email profile offline_access',
      BATON_SUITE_SERVICES: 'mail=mail.read; calendar=calendar.read',
      BATON_SUITE_AUTHORIZATION_PARAMS: 'prompt=consent',
      BATON_MESSAGING_API_URL: messaging,
    });
  },
});

async function startMessagingApi(): Promise<Server> {
  const api = createServer((request, response) => {
    const known = request.headers.authorization === 'Bearer good-token';
    response.writeHead(known ? 200 : 401, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify(known ? { name: 'Shop', verified_name: 'The Shop' } : { error: 'bad' }));
  });
  await new Promise<void>(resolve => api.listen(0, '127.0.0.1', resolve));
  return api;
}

async function stopServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
}

test('credentials are stored, replaced without being shown, and deleted', async ({ member, api, ownServer }) => {
  await open(member, '/connections');
  await expect(member.getByText('No connections yet')).toBeVisible();
  await member.getByRole('button', { name: 'Connect' }).first().click();
  await member.getByRole('menuitem', { name: 'Credentials' }).click();
  await member.getByRole('combobox', { name: 'Kind' }).click();
  await member.getByRole('option', { name: 'Username and password' }).click();
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member.getByText('Enter a name.')).toBeVisible();
  await member.getByRole('textbox', { name: 'Name', exact: true }).fill('Warehouse');
  await member.getByRole('textbox', { name: 'Secret 1' }).fill('reader');
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  await expect(member.getByText('The secret of “password” is missing.')).toBeVisible();
  await member.getByRole('textbox', { name: 'Secret 2' }).fill('first-secret');
  await member.getByRole('button', { name: 'Create', exact: true }).click();
  const row = member.getByRole('row', { name: /Warehouse/ });
  await expect(row).toContainText('Active');
  await expect(row).toContainText('Nothing');

  await row.getByRole('button', { name: 'Actions for Warehouse' }).click();
  await member.getByRole('menuitem', { name: 'Edit' }).click();
  await member.getByRole('button', { name: 'Replace password' }).click();
  await member.getByRole('textbox', { name: 'New secret of password' }).fill('second-secret');
  await member.getByRole('button', { name: 'Add a credential' }).click();
  await member.getByRole('textbox', { name: 'Name 1' }).fill('token');
  await member.getByRole('textbox', { name: 'Secret 1' }).fill('third-secret');
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('token');
  await member.reload();
  await expect(row).toBeVisible();
  const { connections } = await api.call('GET', '/v1/connections');
  for (const secret of ['first-secret', 'second-secret', 'third-secret']) {
    expect(await member.content()).not.toContain(secret);
    expect(JSON.stringify(connections)).not.toContain(secret);
    expect(ownServer?.output().includes(secret)).toBe(false);
  }

  await member.getByRole('searchbox').fill('nothing like it');
  await expect(member.getByText('No connection matches')).toBeVisible();
  await member.getByRole('button', { name: 'Clear' }).click();
  await row.getByRole('button', { name: 'Actions for Warehouse' }).click();
  await member.getByRole('menuitem', { name: 'Delete' }).click();
  await member.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(member.getByText('Warehouse is deleted')).toBeVisible();
  await expect(row).toHaveCount(0);
});

test('credentials are sent only to their allowed origins, and an administrator shares them', async ({
  member,
  api,
}) => {
  await open(member, '/connections?create=credentials');
  const creating = member.getByRole('dialog', { name: 'Create connection' });
  await creating.getByRole('textbox', { name: 'Name', exact: true }).fill('Bound');
  await creating.getByRole('textbox', { name: 'Secret 1' }).fill('first-secret');
  await creating.getByRole('textbox', { name: 'Sent to' }).fill('https://api.example.com/v1');
  await expectAccessible(member);
  await creating.getByRole('button', { name: 'Create', exact: true }).click();
  const row = member.getByRole('row', { name: /Bound/ });
  await expect(row).toContainText('https://api.example.com');
  await expect(row).toContainText('Project');

  const actions = row.getByRole('button', { name: 'Actions for Bound' });
  await actions.click();
  await member.getByRole('menuitem', { name: 'Edit' }).click();
  const editing = member.getByRole('dialog', { name: 'Edit Bound' });
  await editing.getByRole('textbox', { name: 'Sent to' }).fill('https://other.example.com');
  await editing.getByRole('button', { name: 'Save' }).click();
  await expect(editing).toContainText('needs the credentials to be entered again');
  await expectAccessible(member);
  await editing.getByRole('button', { name: 'Replace api_key' }).click();
  await editing.getByRole('textbox', { name: 'New secret of api_key' }).fill('second-secret');
  await editing.getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('https://other.example.com');

  await actions.click();
  await member.getByRole('menuitem', { name: 'Share with workspace' }).click();
  await expect(member.getByText('Bound is shared with the workspace')).toBeVisible();
  await expect(row).toContainText('Workspace');
  const { connections } = await api.call('GET', '/v1/connections?q=Bound');
  expect(connections).toMatchObject([{ project_id: null, origins: ['https://other.example.com'] }]);
  await actions.click();
  await member.getByRole('menuitem', { name: 'Return to this project' }).click();
  await expect(row).toContainText('Project');
});

test('deleting a connection that is in use asks for confirmation', async ({ member, api }) => {
  const { id } = await api.call('POST', '/v1/connections', {
    display_name: 'Model key',
    provider: 'openai',
    service: 'llm',
    credentials: { api_key: 'k' },
  });
  const step = { id: 'ask', type: 'llm_call', name: 'Ask', model: 'openai/gpt', prompt: 'Hello' };
  await api.call('POST', '/v1/workflows', { name: 'Asks a model', graph: { steps: [step] } });
  await open(member, '/connections');
  await member.getByRole('button', { name: 'Actions for Model key' }).click();
  await member.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = member.getByRole('alertdialog');
  await expect(dialog).toContainText('Workflow “Asks a model”');
  await expectAccessible(member);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(dialog).toContainText('is used in 1 place');
  await dialog.getByRole('checkbox', { name: 'Delete it anyway' }).check();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await expect(member.getByText('Model key is deleted')).toBeVisible();
  expect(JSON.stringify(await api.call('GET', '/v1/connections'))).not.toContain(String(id));
});

test('a suite account is connected through its provider, and its services are switched on and off', async ({
  member,
}) => {
  await open(member, '/connections');
  await member.getByRole('button', { name: 'Connect' }).first().click();
  await member.getByRole('menuitem', { name: 'Suite account' }).click();
  await expect(member.getByText('ada@example.com is connected')).toBeVisible();
  await expect(member).toHaveURL(/\/connections$/);
  await member.getByRole('button', { name: 'Actions for ada@example.com' }).click();
  await member.getByRole('menuitem', { name: 'Services' }).click();
  await member.getByRole('switch', { name: 'mail' }).click();
  await expect(member.getByRole('switch', { name: 'mail' })).not.toBeChecked();
  await expectAccessible(member);
  await member.getByRole('button', { name: 'Done' }).click();
  await member.getByRole('button', { name: 'Actions for ada@example.com' }).click();
  await member.getByRole('menuitem', { name: 'Connect again' }).click();
  await expect(member.getByText('ada@example.com is connected')).toBeVisible();
});

test('an unrequested callback connects nothing', async ({ member }) => {
  await open(member, '/connections/callback?error=access_denied&state=suite.x');
  await expect(member.getByText('Access was denied.')).toBeVisible();
  await expect(member).toHaveURL(/\/connections\/callback$/);
  await open(member, '/connections/callback?code=c&state=suite.forged');
  await expect(member.getByText('This sign-in was not started here')).toBeVisible();
  await expectAccessible(member);
});

test('a messaging account is tested before it is saved', async ({ member }) => {
  await open(member, '/connections?create=messaging');
  await settled(member);
  await member.getByRole('textbox', { name: 'Name', exact: true }).fill('Shop');
  await member.getByRole('textbox', { name: 'Business account ID' }).fill('1');
  await member.getByRole('textbox', { name: 'Phone number ID' }).fill('2');
  await member.getByRole('textbox', { name: 'Access token' }).fill('bad-token');
  await member.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(member.getByText('The messaging API did not accept these credentials.')).toBeVisible();
  await expectAccessible(member);
  await member.getByRole('textbox', { name: 'Access token' }).fill('good-token');
  await member.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(member.getByText('Shop is connected')).toBeVisible();
});
