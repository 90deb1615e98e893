import { z } from 'zod';
import type { SuiteSettings } from '../../../platform/oauth/settings.ts';
import type { ConnectionRow } from '../store.ts';

/** The `config` of a suite connection: enabled services, and every scope that its owner granted. */
const SuiteConfig = z.object({ services: z.array(z.string()), granted_scopes: z.array(z.string()) });
export type SuiteConfig = z.output<typeof SuiteConfig>;

export const suiteConfigOf = (row: Pick<ConnectionRow, 'config'>): SuiteConfig => SuiteConfig.parse(row.config);

/** Whether every scope of a service was granted. */
export function isGranted(scopes: readonly string[], granted: readonly string[]): boolean {
  return scopes.every(scope => granted.includes(scope));
}

/**
 * Returns the scopes to request for a fresh access token, without those of disabled services, so that the provider
 * disables them too (RFC 6749, 6). Undefined if no scope is left out: a server need not support the parameter at all.
 */
export function narrowedScope(settings: SuiteSettings, row: Pick<ConnectionRow, 'config'>): string | undefined {
  const { services: on, granted_scopes: granted } = suiteConfigOf(row);
  const needed = new Set([...settings.scopes, ...on.flatMap(service => settings.services.get(service) ?? [])]);
  const off = [...settings.services.values()].flat().filter(scope => !needed.has(scope));
  const kept = granted.filter(scope => !off.includes(scope));
  return kept.length === granted.length ? undefined : kept.join(' ');
}
