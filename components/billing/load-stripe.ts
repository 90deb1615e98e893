import type { Appearance, Stripe } from '@stripe/stripe-js';

/**
 * Loads Stripe's script, from Stripe's server as Stripe requires, only when there is something to confirm: a browser without a payment
 * never contacts Stripe. Throws if the script cannot be loaded.
 */
export async function loadStripeFor(publishableKey: string): Promise<Stripe> {
  const { loadStripe } = await import('@stripe/stripe-js/pure');
  // No load parameters: with them, the package waits forever, without an error, for a script that was blocked once.
  const stripe = await loadStripe(publishableKey);
  if (!stripe) throw new Error('Stripe can only be used in a browser.');
  return stripe;
}

/** Returns the colors of the current theme, for a form inside an iframe. */
export function stripeAppearance(dark: boolean): Appearance {
  const style = getComputedStyle(document.documentElement);
  const color = (name: string) => style.getPropertyValue(name).trim();
  return {
    theme: dark ? 'night' : 'stripe',
    variables: {
      colorPrimary: color('--accent'),
      colorBackground: color('--surface'),
      colorText: color('--text'),
      colorTextSecondary: color('--muted'),
      colorDanger: color('--bad'),
      borderRadius: '6px',
      fontSizeBase: '14px',
    },
  };
}
