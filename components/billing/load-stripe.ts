import type { Appearance, Stripe } from '@stripe/stripe-js';

/**
 * Stripe's own script, from Stripe's own server as it demands, and no earlier than something is to be confirmed: whoever
 * never pays never talks to Stripe. Throws where it cannot be loaded.
 */
export async function loadStripeFor(publishableKey: string): Promise<Stripe> {
  const { loadStripe } = await import('@stripe/stripe-js/pure');
  // Without load parameters: with them the package waits forever for a script that was blocked once, and tells nobody.
  const stripe = await loadStripe(publishableKey);
  if (!stripe) throw new Error('Stripe can only be used in a browser.');
  return stripe;
}

/** The colours of the present theme, for a form that lives in a frame of its own. */
export function stripeAppearance(dark: boolean): Appearance {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  return {
    theme: dark ? 'night' : 'stripe',
    variables: {
      colorPrimary: colour('--accent'),
      colorBackground: colour('--surface'),
      colorText: colour('--text'),
      colorTextSecondary: colour('--muted'),
      colorDanger: colour('--bad'),
      borderRadius: '6px',
      fontSizeBase: '14px',
    },
  };
}
