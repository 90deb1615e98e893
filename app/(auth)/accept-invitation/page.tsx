import type { Metadata } from 'next';
import { AcceptInvitationForm } from '@/components/auth/accept-invitation-form.tsx';

export const metadata: Metadata = { title: 'Invitation' };

export default function AcceptInvitationPage() {
  return <AcceptInvitationForm />;
}
