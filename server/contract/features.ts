import type { Config } from './config.ts';

/** Parts of the API that a deployment has where its operator has configured them; elsewhere their operations are 404. */
export type Feature = 'suite' | 'messaging' | 'messaging_signup' | 'mail' | 'billing';

/** The features that this configuration switches on. */
export function featuresOf({
  suite,
  messaging,
  mail,
  billing,
}: Pick<Config, 'suite' | 'messaging' | 'mail' | 'billing'>): ReadonlySet<string> {
  const on: Record<Feature, boolean> = {
    suite: suite !== null,
    messaging: messaging !== null,
    messaging_signup: messaging?.oauth != null,
    mail: mail !== null,
    billing: billing.mode !== 'off',
  };
  return new Set(Object.entries(on).flatMap(([feature, enabled]) => (enabled ? [feature] : [])));
}
