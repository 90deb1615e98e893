import { readCatalog } from '../domains/billing/plans/catalog.ts';
import { ownerProblems } from '../domains/identity/bootstrap.ts';
import { type Config, ConfigError, type FurtherChecks, readConfig, unknownVariables } from '../operation/config.ts';

const checks: FurtherChecks = {
  owner: ownerProblems,
  billing(settings) {
    try {
      readCatalog(settings);
      return [];
    } catch (error) {
      if (error instanceof ConfigError) return [error.message];
      throw error;
    }
  },
};

/**
 * Reads the configuration of a process from its environment, before the process creates anything. Warns on standard
 * error, at every log level, about each BATON_* variable that does not exist: a misspelled limit does not limit
 * anything. Throws ConfigError naming every bad variable.
 */
export function loadConfig(): Config {
  for (const line of unknownVariables()) process.stderr.write(`baton: ${line} (docs/configuration.md)\n`);
  return readConfig(undefined, checks);
}
