/**
 * How a webhook authenticates its deliveries: `baton` is the API's own signature and token, the senders document the
 * other presets.
 */
export const PRESET_NAMES = [
  'baton',
  'github',
  'stripe',
  'slack',
  'meta',
  'microsoft-graph',
  'standard-webhooks',
  'basic',
  'secret-url',
] as const;
export type PresetName = (typeof PRESET_NAMES)[number];

export type Strength = 'strong' | 'medium' | 'weak';

/** The party that creates a secret: only Baton, only the sender, or either of them. */
export type SecretSource = 'baton' | 'sender' | 'either';

export type Preset = {
  label: string;
  strength: Strength;
  /** The basis of the preset's strength, in a sentence or two for people. */
  why: string;
  secretSource: SecretSource;
  /** Where the sender's page shows or expects the secret. */
  secretHint: string;
  /** True if the secret is a part of the address. */
  secretInAddress?: true;
  /** True if the sender tests the address with a token that Baton creates. */
  hasVerifyToken?: true;
};

/** The presets that people choose from. This file imports nothing, so that the console can use it too. */
export const PRESETS: Record<PresetName, Preset> = {
  baton: {
    label: 'Baton: signature and token',
    strength: 'strong',
    why: 'Each delivery needs an HMAC-SHA256 signature and a personal access token. Require the timestamp to refuse recorded deliveries after five minutes.',
    secretSource: 'baton',
    secretHint: 'The sender signs each delivery with this secret.',
  },
  github: {
    label: 'GitHub',
    strength: 'medium',
    why: 'The body is signed with HMAC-SHA256. GitHub signs neither a time nor the delivery id, so a recorded delivery can be sent again with another id.',
    secretSource: 'either',
    secretHint: 'In GitHub: Settings → Webhooks → Secret. Either content type will do.',
  },
  stripe: {
    label: 'Stripe',
    strength: 'strong',
    why: 'The time and the body are signed with HMAC-SHA256. A delivery is refused after five minutes, and one event starts one run.',
    secretSource: 'sender',
    secretHint: 'Stripe shows the signing secret (whsec_…) after you have added the endpoint with this address.',
  },
  slack: {
    label: 'Slack',
    strength: 'strong',
    why: 'The time and the body are signed with HMAC-SHA256. A delivery is refused after five minutes, and one event starts one run.',
    secretSource: 'sender',
    secretHint:
      'In Slack: your app → Basic Information → Signing Secret. Save it here before you enter the request URL there.',
  },
  meta: {
    label: 'Meta (WhatsApp, Messenger, Instagram)',
    strength: 'medium',
    why: 'The body is signed with HMAC-SHA256, but no time. A recorded delivery that is sent again starts no second run for 24 hours.',
    secretSource: 'sender',
    secretHint: 'In Meta: your app → App settings → Basic → App secret.',
    hasVerifyToken: true,
  },
  'microsoft-graph': {
    label: 'Microsoft Graph',
    strength: 'weak',
    why: 'Microsoft signs nothing, so the secret is in the address. Anyone who has the address can start runs.',
    secretSource: 'baton',
    secretHint: 'Use the whole address as notificationUrl of the subscription. Baton answers the validation request.',
    secretInAddress: true,
  },
  'standard-webhooks': {
    label: 'Standard Webhooks',
    strength: 'strong',
    why: 'The id, the time and the body are signed with HMAC-SHA256. A delivery is refused after five minutes, and one id starts one run.',
    secretSource: 'either',
    secretHint: 'whsec_ and Base64, as the Standard Webhooks specification defines it.',
  },
  basic: {
    label: 'Username and password',
    strength: 'weak',
    why: 'The password is sent with each delivery, and the body is not signed. Anyone who reads one delivery can send others.',
    secretSource: 'either',
    secretHint: 'The sender sends it by HTTP Basic authentication.',
  },
  'secret-url': {
    label: 'Secret address',
    strength: 'weak',
    why: 'Anyone who has the address can start runs, and addresses often appear in logs. Use it only for senders that can do nothing else.',
    secretSource: 'baton',
    secretHint: 'The secret is part of the address.',
    secretInAddress: true,
  },
};
