import type { MetadataRoute } from 'next';

/** The console is private, so search engines must not list it. */
export default function robots(): MetadataRoute.Robots {
  return { rules: { userAgent: '*', disallow: '/' } };
}
