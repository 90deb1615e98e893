/** The options of a page's Content-Security-Policy: the sources that it allows besides the page's own server. */
export type PolicyOptions = {
  nonce: string;
  /** React's development build uses eval to rebuild server stacks; the production build does not. */
  development: boolean;
  /** Stripe's form and the banks' pages (3DS) are in Stripe's frames, so that we receive no card data. */
  stripe: boolean;
};

/** The sources that docs.stripe.com/security/guide#content-security-policy requires. The script itself is loaded when a person pays. */
const stripeSources = {
  script: ['https://js.stripe.com', 'https://*.js.stripe.com'],
  connect: ['https://api.stripe.com'],
  frame: ['https://js.stripe.com', 'https://*.js.stripe.com', 'https://hooks.stripe.com'],
};

/**
 * Returns the Content-Security-Policy of a page: only our own scripts, no eval, no framing. Inline styles are allowed: the graph canvas and
 * the menus set their positions in style attributes, which a nonce cannot cover. Stripe is allowed only if it is configured.
 */
export function contentSecurityPolicy({ nonce, development, stripe }: PolicyOptions): string {
  const ifStripe = (sources: readonly string[]) => (stripe ? sources.map(source => ` ${source}`).join('') : '');
  return [
    "default-src 'self'",
    // With 'strict-dynamic', only old browsers use the host. Other browsers trust the scripts that are loaded by our
    // own script.
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}${ifStripe(stripeSources.script)}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Large graphs are laid out in a worker. Without this directive script-src applies, whose 'strict-dynamic' ignores 'self'.
    "worker-src 'self'",
    `connect-src 'self'${ifStripe(stripeSources.connect)}`,
    ...(stripe ? [`frame-src 'self'${ifStripe(stripeSources.frame)}`] : []),
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
