import { describe, expect, test } from 'vitest';
import { contentSecurityPolicy } from './content-security-policy.ts';

const directives = (policy: string) =>
  Object.fromEntries(
    policy.split('; ').map(text => [text.slice(0, text.indexOf(' ')), text.slice(text.indexOf(' ') + 1)]),
  );

describe('the content security policy', () => {
  test('allows only this server if payments are manual', () => {
    const policy = contentSecurityPolicy({ nonce: 'abc', development: false, stripe: false });
    expect(policy).not.toContain('http');
    expect(policy).not.toContain('unsafe-eval');
    expect(directives(policy)).toMatchObject({
      'default-src': "'self'",
      'script-src': "'self' 'nonce-abc' 'strict-dynamic'",
      'connect-src': "'self'",
      'worker-src': "'self'",
      'object-src': "'none'",
      'frame-ancestors': "'none'",
    });
    expect(directives(policy)).not.toHaveProperty('frame-src');
  });

  test('also allows Stripe, and nothing else, if Stripe is configured', () => {
    const strict = directives(contentSecurityPolicy({ nonce: 'abc', development: false, stripe: false }));
    const policy = directives(contentSecurityPolicy({ nonce: 'abc', development: false, stripe: true }));
    const { 'script-src': script, 'connect-src': connect, 'frame-src': frame, ...rest } = policy;
    expect(script).toBe("'self' 'nonce-abc' 'strict-dynamic' https://js.stripe.com https://*.js.stripe.com");
    expect(connect).toBe("'self' https://api.stripe.com");
    expect(frame).toBe("'self' https://js.stripe.com https://*.js.stripe.com https://hooks.stripe.com");
    const { 'script-src': _, 'connect-src': __, ...others } = strict;
    expect(rest).toEqual(others);
  });

  test('allows eval only in development', () => {
    expect(contentSecurityPolicy({ nonce: 'abc', development: true, stripe: false })).toContain("'unsafe-eval'");
  });
});
