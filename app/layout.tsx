import { GeistMono } from 'geist/font/mono';
import { GeistSans } from 'geist/font/sans';
import type { Metadata, Viewport } from 'next';
import { headers } from 'next/headers';
import type { ReactNode } from 'react';
import { Providers } from '@/components/shell/providers.tsx';
import { container } from './container.ts';
import './globals.css';
import { NONCE_HEADER } from './page-headers.ts';

/** The URL of the picture of a shared link must be absolute, so it uses the deployment's own address. */
export function generateMetadata(): Metadata {
  return {
    metadataBase: new URL(container().services.config.http.url),
    title: { default: 'Baton', template: '%s · Baton' },
    description: 'Durable workflow orchestration: draw workflows, publish and run them, and watch them live.',
    robots: { index: false },
  };
}
export const viewport: Viewport = {
  themeColor: [
    { media: '(prefers-color-scheme: light)', color: '#f9f9fb' },
    { media: '(prefers-color-scheme: dark)', color: '#0d0d10' },
  ],
};

export default async function RootLayout({ children }: { children: ReactNode }) {
  const nonce = (await headers()).get(NONCE_HEADER) ?? undefined;
  return (
    // next-themes sets the class before the first paint, so the server's markup differs in it.
    <html lang="en" suppressHydrationWarning className={`${GeistSans.variable} ${GeistMono.variable}`}>
      <body>
        <Providers nonce={nonce}>{children}</Providers>
      </body>
    </html>
  );
}
