import type { MetadataRoute } from 'next';

/** The console is private: no search engine has anything to list here. */
export default function robots(): MetadataRoute.Robots {
  return { rules: { userAgent: '*', disallow: '/' } };
}
