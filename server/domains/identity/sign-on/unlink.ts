import type { Services } from '../../../operation/services.ts';
import { transact } from '../../../platform/postgres/transaction.ts';
import { readAccounts } from '../account-store.ts';
import { lockAddress } from '../lock-queries.ts';
import { endAllSessions } from '../session-store.ts';
import { deleteIdentitiesOf } from './store.ts';

/**
 * Lets another person of the issuer sign in to the account of an address, and ends its sessions. Returns false if no
 * account of the address signs in through OpenID Connect.
 */
export function unlinkAddress(services: Pick<Services, 'prisma'>, email: string): Promise<boolean> {
  return transact(services, async tx => {
    await lockAddress(tx, email);
    let unlinked = false;
    for (const { id } of await readAccounts(tx, email)) {
      if (!(await deleteIdentitiesOf(tx, id))) continue;
      await endAllSessions(tx, id);
      unlinked = true;
    }
    return unlinked;
  });
}
