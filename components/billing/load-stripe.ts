import type { Appearance, Stripe } from '@stripe/stripe-js';

/**
 * Loads Stripe's own script, from Stripe's own server as it requires, only when there is something to confirm: a
 * browser that pays nothing never contacts Stripe. Throws if it cannot be loaded.
 */
export async function loadStripeFor(publishableKey: string): Promise<Stripe> {
  const { loadStripe } = await import('@stripe/stripe-js/pure');
  // Without load parameters: with them the package waits forever for a script that was blocked once, without an error.
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
