import type { Metadata } from 'next';
import { container } from '@/app/container.ts';
import { AcceptInvitationForm } from '@/components/auth/accept-invitation-form.tsx';
import { SignOnInstead } from '@/components/auth/sign-on-link.tsx';

export const metadata: Metadata = { title: 'Invitation' };
// Read from the running service, because the setting is not known at build time.
export const dynamic = 'force-dynamic';

export default function AcceptInvitationPage() {
  return container().identity.passwordSignIn ? <AcceptInvitationForm /> : <SignOnInstead />;
}
