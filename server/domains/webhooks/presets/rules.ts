import { batonPreset } from './baton.ts';
import type { PresetName } from './catalog.ts';
import { githubPreset } from './github.ts';
import { metaPreset } from './meta.ts';
import { microsoftGraphPreset } from './microsoft-graph.ts';
import type { PresetRules } from './preset.ts';
import { basicPreset, secretUrlPreset } from './sent-secrets.ts';
import { slackPreset } from './slack.ts';
import { standardWebhooksPreset } from './standard-webhooks.ts';
import { stripePreset } from './stripe.ts';

/** The rules of every preset. */
export const presetRules: Record<PresetName, PresetRules> = {
  baton: batonPreset,
  github: githubPreset,
  stripe: stripePreset,
  slack: slackPreset,
  meta: metaPreset,
  'microsoft-graph': microsoftGraphPreset,
  'standard-webhooks': standardWebhooksPreset,
  basic: basicPreset,
  'secret-url': secretUrlPreset,
};
