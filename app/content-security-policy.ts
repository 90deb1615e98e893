/** The options of a page's Content-Security-Policy: what it allows besides the page's own server. */
export type PolicyOptions = {
  nonce: string;
  /** React's development build rebuilds server stacks with eval; production uses none. */
  development: boolean;
  /** Payments are Stripe's: its form and the banks' pages (3DS) are frames of Stripe's, so that no card data comes to us. */
  stripe: boolean;
};

/**
 * The sources that docs.stripe.com/security/guide#content-security-policy requires; the script itself is loaded when a
 * person pays.
 */
const stripeSources = {
  script: ['https://js.stripe.com', 'https://*.js.stripe.com'],
  connect: ['https://api.stripe.com'],
  frame: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
};

/**
 * The Content-Security-Policy of a page: no script runs but ours, no eval, no framing. Styles may be inline: the graph canvas and
 * the menus place themselves with style attributes, which a nonce cannot cover. Stripe is let in only where it is configured.
 */
export function contentSecurityPolicy({ nonce, development, stripe }: PolicyOptions): string {
  const of = (sources: readonly string[]) => (stripe ? sources.map(source => ` ${source}`).join('') : '');
  return [
    "default-src 'self'",
    // With 'strict-dynamic' the host counts for browsers that do not know it; the others trust what our own script loads.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}${of(stripeSources.script)}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Large graphs are laid out in a worker. Without this directive script-src applies, whose 'strict-dynamic' ignores 'self'.
    "worker-src 'self'",
    `connect-src 'self'${of(stripeSources.connect)}`,
    ...(stripe ? [`frame-src 'self'${of(stripeSources.frame)}`] : []),
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
