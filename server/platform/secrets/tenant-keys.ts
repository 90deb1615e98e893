import { deriveKey } from '../crypto/digest.ts';
import { DecryptionError, open } from '../crypto/envelope.ts';

/** Returns the key that wraps tenants' data keys; never the master key itself. */
export const wrappingKey = (masterKey: Uint8Array): Buffer => deriveKey(masterKey, 'tenant-keys');

/** Returns the additional data to which a wrapped data key is bound, so that a copy for another tenant cannot be opened. */
export const keyPlace = (tenantId: string): string[] => ['tenant-key', tenantId];

/** Returns whether the key opens data that was sealed for the place. */
export function canOpen(key: Uint8Array, sealed: Uint8Array, place: readonly string[]): boolean {
  try {
    open(key, sealed, place);
    return true;
  } catch (error) {
    if (error instanceof DecryptionError) return false;
    throw error;
  }
}
