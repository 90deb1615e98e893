import type { Metadata } from 'next';
import { container } from '@/app/container.ts';
import { Profile } from '@/components/settings/profile.tsx';

export const metadata: Metadata = { title: 'Profile' };
// Read from the running service, because the setting is not known at build time.
export const dynamic = 'force-dynamic';

export default function ProfilePage() {
  return <Profile passwordSignIn={container().identity.passwordSignIn} />;
}
