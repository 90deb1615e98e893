import type { MetadataRoute } from 'next';

/** The web app manifest, with which a phone or a desktop can install the console. The icons are drawn from app/icon.svg. */
export default function manifest(): MetadataRoute.Manifest {
  return {
    name: 'Baton',
    short_name: 'Baton',
    description: 'Durable workflow orchestration: draw workflows, publish and run them, and watch them live.',
    start_url: '/',
    display: 'standalone',
    background_color: '#f9f9fb',
    theme_color: '#4f46e5',
    icons: [
      { src: '/icons/icon-192.png', sizes: '192x192', type: 'image/png' },
      { src: '/icons/icon-512.png', sizes: '512x512', type: 'image/png' },
      { src: '/icons/icon-maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
  };
}
