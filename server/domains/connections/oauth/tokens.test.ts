import { expect, test } from 'vitest';
import { newId } from '../../../platform/ids.ts';
import { createTestDatabase } from '../../../testing/postgres.ts';
import { activate, findConnection, insertPending } from '../store.ts';
import { expiryOf } from './tokens.ts';

test('a token expires as the server says, but not after the latest time that the database can store', async () => {
  const at = new Date(0);
  expect(expiryOf({}, 5)).toBeNull();
  expect(expiryOf({ expires_in: 60 }, 5)).toEqual(new Date(60_005));
  await using db = await createTestDatabase();
  for (const seconds of [1e12, Number.MAX_SAFE_INTEGER]) {
    const expiresAt = expiryOf({ expires_in: seconds }, 0);
    const ref = { tenantId: 'acme', connectionId: newId() };
    const facts = { name: 'A', provider: 'suite', service: 'oauth', config: {}, account: null, origins: [] };
    const owner = { projectId: null, tokenOrigin: null, createdBy: newId(), at };
    await insertPending(db.prisma, { ref, ...facts, ...owner });
    await activate(db.prisma, ref, { keys: ['access_token'], expiresAt, rotatedAt: at });
    const found = await findConnection(db.prisma, { ...ref, projectId: newId() });
    expect(found?.expiresAt).toEqual(new Date('9999-12-31T00:00:00.000Z'));
  }
});
