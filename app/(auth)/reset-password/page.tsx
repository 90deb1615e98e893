import type { Metadata } from 'next';
import { LinkPasswordForm } from '@/components/auth/link-password-form.tsx';

export const metadata: Metadata = { title: 'Reset password' };

export default function ResetPasswordPage() {
  return (
    <LinkPasswordForm
      title="Choose a new password"
      description="It replaces your current password and signs you out everywhere else."
      path="/v1/password-resets/complete"
      action="Set password"
      isNew
    />
  );
}
