import { AppError, notFound } from '../platform/errors.ts';
import type { Config } from './config.ts';

/** Parts of the API that exist only if the operator has configured them; otherwise their operations are 404. */
export type Feature = 'suite' | 'messaging' | 'messaging_signup' | 'mail' | 'billing' | 'memory' | 'agents';

/** Returns the features that this configuration enables. */
export function featuresOf({
  suite,
  messaging,
  mail,
  billing,
  memory,
  agents,
}: Pick<Config, 'suite' | 'messaging' | 'mail' | 'billing' | 'memory' | 'agents'>): ReadonlySet<string> {
  const on: Record<Feature, boolean> = {
    suite: suite !== null,
    messaging: messaging !== null,
    messaging_signup: messaging?.oauth != null,
    mail: mail !== null,
    billing: billing.mode !== 'off',
    memory: memory.on,
    agents,
  };
  return new Set(Object.entries(on).flatMap(([feature, enabled]) => (enabled ? [feature] : [])));
}

/**
 * Whether a deployment without the feature still lists its tools and answers calls with an explanation:
 * clients expect the feature.
 */
export const isAnnounced = (feature: Feature): boolean => feature === 'memory';

/** Returns the error of an operation whose feature is disabled. */
export function featureOff(feature: Feature): AppError {
  if (!isAnnounced(feature)) return notFound('Route');
  return new AppError(404, `${feature}_not_configured`, 'Memory is not configured on this deployment.');
}
